import type { ResourceEvent } from '../../../store/resources/resource-events.js';
import type { ObservedReplica } from './endpoint-state.js';
import { exitedText, exitText } from './exit-text.js';
import { restartAfter } from './restart.js';

export interface ReplicaNews extends Pick<ResourceEvent, 'type' | 'reason' | 'message'> {}

/** What a replica was when it was last looked at. */
export type Seen = ReadonlyMap<string, string>;

export const seenOf = (replicas: readonly ObservedReplica[]): Seen =>
  new Map(replicas.map((one) => [one.id, stateOf(one)]));

/**
 * What has happened to replicas since somebody last looked; `before` is null when nobody has. Of those that are tried again and
 * again, only that they fail is told.
 */
export function replicaNews(before: Seen | null, replicas: readonly ObservedReplica[]): ReplicaNews[] {
  const news: ReplicaNews[] = [];
  for (const one of replicas) {
    const was = before?.get(one.id);
    const state = stateOf(one);
    if (was === state) continue;
    if (before === null) news.push(normal('Found', `replica ${one.id} is there and ${state}`));
    else if (was === undefined && state !== 'exited' && one.restarts < 2)
      news.push(normal('Started', `replica ${one.id} was started`));
    if (before === null || (was === undefined && state === 'starting')) continue;
    news.push(...newsOf(one, state));
  }
  const here = new Set(replicas.map(({ id }) => id));
  for (const id of before?.keys() ?? []) {
    if (!here.has(id) && before!.get(id) !== 'exited') news.push(normal('Stopped', `replica ${id} is gone`));
  }
  return news;
}

function newsOf(replica: ObservedReplica, state: string): ReplicaNews[] {
  const { exit, id } = replica;
  switch (state) {
    case 'ready':
      return [normal('Ready', `replica ${id} takes requests`)];
    case 'unready':
      return [warning('Unready', `replica ${id} does not say that it is well any more`)];
    case 'leaving':
      return [normal('Leaving', `replica ${id} takes no more requests`)];
    case 'exited':
      // Again in the same place: in the same words, so that they are counted.
      if (restartAfter(replica).restarts > 1) return [warning('Exited', `${exitedText(exit!)}, as one before it did`)];
      return [warning('Exited', `replica ${id} ${exitText(exit!)}${lastLine(exit!.lastLines)}`)];
    default:
      return [];
  }
}

const stateOf = ({ isLeaving, phase }: ObservedReplica) => (isLeaving ? 'leaving' : phase);
const lastLine = (lines: readonly string[]) => (lines.length === 0 ? '' : `; it said last: ${lines.at(-1)}`);
const normal = (reason: string, message: string): ReplicaNews => ({ type: 'normal', reason, message });
const warning = (reason: string, message: string): ReplicaNews => ({ type: 'warning', reason, message });
