import type { RequestOutcomes } from '../../replica/request-outcomes.js';
import type { RequestTable } from '../../workload/request-table.js';
import { byName } from '../by-name.js';

/** Jain's index: 1 when all shares are equal, 1/n when one has everything. */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((a, b) => a + b, 0);
  const squares = shares.reduce((a, b) => a + b * b, 0);
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares);
}

/** Output tokens of completed requests per tenant, and how evenly they are spread. */
export function fairness(table: RequestTable, outcomes: RequestOutcomes) {
  if (table.tenants.size === 1) return { jain: 1, tenants: {} };
  const requests = new Float64Array(table.tenants.size);
  const tokens = new Float64Array(table.tenants.size);
  for (let row = 0; row < table.count; row++) {
    if (Number.isNaN(outcomes.e2eUs[row]!)) continue;
    requests[table.tenant[row]!]!++;
    tokens[table.tenant[row]!]! += outcomes.producedTokens[row]!;
  }
  const entries: [string, { requests: number; tokens: number }][] = [];
  for (let tenant = 1; tenant < requests.length; tenant++) {
    if (requests[tenant]! === 0) continue;
    entries.push([table.tenants.name(tenant), { requests: requests[tenant]!, tokens: tokens[tenant]! }]);
  }
  entries.sort(byName);
  return { jain: jainIndex(entries.map(([, share]) => share.tokens)), tenants: Object.fromEntries(entries) };
}
