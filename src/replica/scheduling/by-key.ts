import { requestId } from '../../workload/request-table.js';
import type { ReplicaRequests } from '../replica-requests.js';
import type { SchedulingOrder } from './contract.js';

/** Smallest key first, then the earlier arrival, then the id as text. */
export function byKey(requests: ReplicaRequests, key: (row: number) => number): SchedulingOrder {
  const { table } = requests;
  return (a, b) => {
    const byKeys = key(a) - key(b);
    if (byKeys !== 0) return byKeys < 0;
    const byArrival = table.arrivalUs[a]! - table.arrivalUs[b]!;
    if (byArrival !== 0) return byArrival < 0;
    return requestId(table, a) < requestId(table, b);
  };
}
