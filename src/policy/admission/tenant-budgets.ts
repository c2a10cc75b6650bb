import type { AdmissionGate } from '../contract.js';
import type { RequestFeatures } from '../request-features.js';
import { isSheddable } from '../slo-classes.js';

/** A gate that also holds tenants to their share of the fleet. The host tells it who is in flight. */
export interface TenantBudgets extends AdmissionGate {
  /** A request of this tenant went to a replica. */
  placed(tenant: number): void;
  /** A placed request of this tenant is gone, in whatever way. */
  left(tenant: number): void;
}

/**
 * Refuses sheddable requests of a tenant that has more in flight than its share of all seats, before the inner gate is
 * asked. Tenants without a share, and requests without a tenant (-1), are not limited.
 *
 * @param shares tenant to its fraction of the seats
 * @param seats requests that the whole fleet can run at once
 */
export function createTenantBudgets(
  gate: AdmissionGate,
  shares: ReadonlyMap<number, number>,
  seats: number,
): TenantBudgets {
  const accounts = new Map<number, { limit: number; inFlight: number }>();
  for (const [tenant, share] of shares) accounts.set(tenant, { limit: share * seats, inFlight: 0 });
  function isOver({ priority, tenant }: RequestFeatures): boolean {
    const account = accounts.get(tenant);
    return account !== undefined && isSheddable(priority) && account.inFlight > account.limit;
  }
  return {
    refuse: (request, view) => (isOver(request) ? 'tenant is over its budget' : gate.refuse(request, view)),
    // Nobody knows when a tenant's own requests end.
    retryAfterUs: (request) => (isOver(request) ? Number.NaN : (gate.retryAfterUs?.(request) ?? Number.NaN)),
    placed(tenant) {
      const account = accounts.get(tenant);
      if (account !== undefined) account.inFlight++;
    },
    left(tenant) {
      const account = accounts.get(tenant);
      if (account !== undefined && account.inFlight > 0) account.inFlight--;
    },
  };
}
