import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { isSheddable } from '../slo-classes.js';
import { TenantNumbers } from './tenant-numbers.js';

const NO_TENANT = -1;

/**
 * Holds tenants to their share of the fleet's seats: sheddable requests of a tenant with more in flight than its share are
 * refused. Tenants without a share, and requests without a tenant, are not limited. All tenants are counted, so that a share
 * that is configured later holds at once.
 */
export class TenantBudgets {
  readonly numbers = new TenantNumbers();
  /** By tenant. */
  #shares: ReadonlyMap<number, number> = new Map();
  #inFlight = new Int32Array(16);
  /** By request: its tenant while it is in flight. */
  #tenantOf = new Int32Array(0);
  #seats = 0;

  get isEmpty(): boolean {
    return this.#shares.size === 0;
  }

  /** @param shares tenant to its fraction of the seats */
  configure(shares: Readonly<Record<string, number>>): void {
    this.#shares = new Map(Object.entries(shares).map(([name, share]) => [this.numbers.reserve(name), share]));
  }

  /** Requests that the whole fleet runs at once. */
  set seats(seats: number) {
    this.#seats = seats;
  }

  isOver(tenant: number, priority: number): boolean {
    if (this.#shares.size === 0 || !isSheddable(priority)) return false;
    const share = this.#shares.get(tenant);
    return share !== undefined && this.#countOf(tenant) > share * this.#seats;
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

  /** The request has ended; only the first call for a placing counts. */
  left(request: number): void {
    const tenant = request < this.#tenantOf.length ? this.#tenantOf[request]! : NO_TENANT;
    if (tenant === NO_TENANT) return;
    this.#tenantOf[request] = NO_TENANT;
    this.#inFlight[tenant]!--;
  }

  #countOf(tenant: number): number {
    return tenant < this.#inFlight.length ? this.#inFlight[tenant]! : 0;
  }

  #reserve(request: number): void {
    const before = this.#tenantOf.length;
    this.#tenantOf = grownArray(this.#tenantOf, roomFor(request, before)).fill(NO_TENANT, before);
  }
}
