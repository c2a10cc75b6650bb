import { hasRate, hasUsers, isCohort, trafficOf } from '../spec/walk.js';
import type { WorkloadSpec } from '../spec/workload-spec.js';

/** Whether all clients stop sending, without a horizon or a number of requests. */
export function endsByItself(spec: WorkloadSpec): boolean {
  if (spec.inference_perf !== undefined) return true;
  return [...trafficOf(spec)].every(({ traffic }) => {
    if (traffic.reasoning?.multi_turn?.single_session) return true;
    if (isCohort(traffic)) return (traffic.spike ?? traffic.drain) !== undefined;
    return traffic.lifecycle !== undefined;
  });
}

/**
 * Whether some clients send at a rate and others wait for responses: the former then use up a number of requests alone.
 */
export function mixesRatesAndUsers(spec: WorkloadSpec): boolean {
  const all = [...trafficOf(spec)];
  return all.some(({ traffic }) => hasRate(traffic)) && all.some(({ traffic }) => hasUsers(traffic));
}
