import { grownArray, roomFor } from '../../kernel/grown-array.js';
import type { Shortfall } from '../contract.js';
import { isSheddable } from '../slo-classes.js';

const NO_TENANT = -1;
/** Tenants without a share that get their own number. */
const MOST_TENANTS = 10_000;

/**
 * Holds tenants to their share of the fleet's seats: sheddable requests of a tenant with more in flight than its share are
 * refused. Tenants without a share, and requests without a tenant, are not limited. All tenants are counted, so that a share
 * that is configured later holds at once.
 *
 * Tenants are small whole numbers, in order of first appearance. Memory is bounded: beyond a limit, later tenants
 * share number 0, except for those with a share.
 */
export class TenantBudgets {
  readonly #numbers = new Map<string, number>();
  readonly #mostTenants: number;
  /** By tenant. */
  #shares: ReadonlyMap<number, number> = new Map();
  #inFlight = new Int32Array(16);
  /** By request: its tenant while it is in flight. */
  #tenantOf = new Int32Array(0);
  #seats = 0;

  constructor(mostTenants = MOST_TENANTS) {
    this.#mostTenants = mostTenants;
  }

  get isEmpty(): boolean {
    return this.#shares.size === 0;
  }

  /** @param shares tenant to its fraction of the seats */
  configure(shares: Readonly<Record<string, number>>): void {
    this.#shares = new Map(Object.entries(shares).map(([name, share]) => [this.#ownNumber(name), share]));
  }

  /** Requests that the whole fleet runs at once. */
  set seats(seats: number) {
    this.#seats = seats;
  }

  /** The number of a tenant, -1 for requests without one. */
  numberOf(name: string): number {
    if (name === '') return NO_TENANT;
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    return this.#numbers.size < this.#mostTenants ? this.#ownNumber(name) : 0;
  }

  isOver(tenant: number, priority: number): boolean {
    if (this.#shares.size === 0 || !isSheddable(priority)) return false;
    const share = this.#shares.get(tenant);
    return share !== undefined && this.#countOf(tenant) > share * this.#seats;
  }

  /** What a tenant lacks that is over its budget. */
  shortfall(tenant: number): Shortfall {
    const bound = (this.#shares.get(tenant) ?? 0) * this.#seats;
    return { name: 'requests in flight of the tenant', value: this.#countOf(tenant), needed: 'at most', bound };
  }

  placed(request: number, tenant: number): void {
    if (request >= this.#tenantOf.length) this.#reserve(request);
    this.left(request);
    this.#tenantOf[request] = tenant;
    if (tenant === NO_TENANT) return;
    if (tenant >= this.#inFlight.length) {
      this.#inFlight = grownArray(this.#inFlight, roomFor(tenant, this.#inFlight.length));
    }
    this.#inFlight[tenant]!++;
  }

  /** The request has ended; only the first call per placement counts. */
  left(request: number): void {
    const tenant = request < this.#tenantOf.length ? this.#tenantOf[request]! : NO_TENANT;
    if (tenant === NO_TENANT) return;
    this.#tenantOf[request] = NO_TENANT;
    this.#inFlight[tenant]!--;
  }

  /** A number that no other tenant has. */
  #ownNumber(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const fresh = this.#numbers.size + 1;
    this.#numbers.set(name, fresh);
    return fresh;
  }

  #countOf(tenant: number): number {
    return tenant < this.#inFlight.length ? this.#inFlight[tenant]! : 0;
  }

  #reserve(request: number): void {
    const before = this.#tenantOf.length;
    this.#tenantOf = grownArray(this.#tenantOf, roomFor(request, before)).fill(NO_TENANT, before);
  }
}
