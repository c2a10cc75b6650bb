import type { ResourceRef } from '../../../store/resources/resource-record.js';
import type { EndpointMemory } from './endpoint-memory.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { ObservedReplica } from './endpoint-state.js';

/** The replicas of an endpoint as their runner, the gateway and those who have to do with them see them now. */
export async function observeReplicas(
  { name, workspace }: ResourceRef,
  { leaving, routes, runner, timing }: EndpointParts,
  memory: EndpointMemory,
): Promise<ObservedReplica[]> {
  const ours = (await runner.list()).filter((one) => one.workspace === workspace && one.endpoint === name);
  const inFlight = new Map(routes.states(workspace, name).map((one) => [one.id, one.inFlight]));
  return ours.map((one) => ({
    ...one,
    isLeaving: leaving.has(one.id),
    unwellSince: memory.unwellSince(one, timing.now()),
    restarts: memory.restarts.get(one.id) ?? 0,
    inFlight: inFlight.get(one.id) ?? 0,
  }));
}
