import type { ResourceEvent } from '../../../../store/resources/resource-events.js';
import type { ObservedReplica } from '../plan/endpoint-state.js';
import { restartAfter } from '../plan/restart-after.js';
import { exitedText, exitText } from './exit-text.js';

export interface ReplicaEvent extends Pick<ResourceEvent, 'type' | 'reason' | 'message'> {}

/** The state of each replica at the last observation. */
export type SeenReplicas = ReadonlyMap<string, string>;

export const seenOf = (replicas: readonly ObservedReplica[]): SeenReplicas =>
  new Map(replicas.map((one) => [one.id, stateOf(one)]));

/**
 * What has happened to replicas since the last observation; `before` is null for the first one. Of replicas that are restarted
 * again and again, only the failures are reported.
 */
export function replicaEvents(before: SeenReplicas | null, replicas: readonly ObservedReplica[]): ReplicaEvent[] {
  const events: ReplicaEvent[] = [];
  for (const one of replicas) {
    const was = before?.get(one.id);
    const state = stateOf(one);
    if (was === state) continue;
    if (before === null) events.push(normal('Found', `replica ${one.id} found, ${state}`));
    else if (was === undefined && state !== 'exited' && one.restarts < 2)
      events.push(normal('Started', `replica ${one.id} was started`));
    if (before === null || (was === undefined && state === 'starting')) continue;
    events.push(...eventsOf(one, state));
  }
  const present = new Set(replicas.map(({ id }) => id));
  for (const id of before?.keys() ?? []) {
    if (!present.has(id) && before!.get(id) !== 'exited') events.push(normal('Stopped', `replica ${id} was stopped`));
  }
  return events;
}

function eventsOf(replica: ObservedReplica, state: string): ReplicaEvent[] {
  const { exit, id } = replica;
  switch (state) {
    case 'ready':
      return [normal('Ready', `replica ${id} is ready`)];
    case 'unready':
      return [warning('Unready', `replica ${id} fails its health check`)];
    case 'draining':
      return [normal('Draining', `replica ${id} gets no more requests`)];
    case 'exited':
      // The same text each time, so that repeated failures are counted.
      if (restartAfter(replica).restarts > 1)
        return [warning('Exited', `${exitedText(exit!)}, like the one before it`)];
      return [warning('Exited', `replica ${id} ${exitText(exit!)}${lastLine(exit!.lastLines)}`)];
    default:
      return [];
  }
}

const stateOf = ({ isDraining, phase }: ObservedReplica) => (isDraining ? 'draining' : phase);
const lastLine = (lines: readonly string[]) => (lines.length === 0 ? '' : `; last line: ${lines.at(-1)}`);
const normal = (reason: string, message: string): ReplicaEvent => ({ type: 'normal', reason, message });
const warning = (reason: string, message: string): ReplicaEvent => ({ type: 'warning', reason, message });
