import type { Condition, Status } from '../../resources/resource.js';
import type { ModelState } from '../models/model-state.js';
import { type DesiredEndpoint, isRouted, type ObservedReplica } from './endpoint-state.js';
import { exitedText, exitText } from './exit-text.js';
import { restartAfter } from './restart.js';

/** Why something cannot be done now. */
export interface Hindrance {
  readonly message: string;
  /** It may go away by itself: nothing is wrong with what was asked for. */
  readonly isPassing: boolean;
  /** When it is tried again, if that is not soon. */
  readonly from?: number;
}

/** How a replica that nobody has stopped ended last. */
export interface LastExit {
  readonly text: string;
  readonly lines: readonly string[];
}

export interface StatusInput {
  readonly desired: DesiredEndpoint;
  readonly isDeleting: boolean;
  readonly generation: number;
  /** As they are after what was to be done has been done. */
  readonly replicas: readonly ObservedReplica[];
  readonly model: ModelState;
  /** What keeps replicas from being started, or from being described at all. */
  readonly hindrance: Hindrance | null;
  /** Why the gateway sends it no requests, whatever its replicas are. */
  readonly unrouted: string | null;
  /** How much context a replica holds, where that is known. */
  readonly room: Readonly<Record<string, unknown>>;
  readonly lastExit: LastExit | null;
  readonly url: string;
  readonly before: Status | null;
  readonly now: number;
}

export interface ToldStatus {
  readonly status: Status;
  /** What is wrong, in the same words for as long as it is the same. */
  readonly problem: string | null;
}

/** What people are told of an endpoint, from nothing but what is wanted and what there is. */
export function endpointStatus(input: StatusInput): ToldStatus {
  const { before, generation, model, now, replicas, url } = input;
  const ready = replicas.filter(isRouted).length;
  const { message, phase, problem = null } = phaseOf(input, ready);
  const isFailing = phase === 'Failed' || phase === 'Degraded';
  const lines = input.lastExit?.lines ?? (before?.last_lines as string[] | undefined) ?? [];
  const status = {
    phase,
    message,
    observed_generation: generation,
    conditions: conditionsOf(input, ready, phase, message, new Date(now).toISOString()),
    ready,
    replicas: replicas.map(shownReplica),
    url,
    ...(model.state === 'fetching' ? { download: { bytes: model.bytes, total: model.total } } : {}),
    ...(isFailing && lines.length > 0 ? { last_lines: lines } : {}),
    ...(model.state === 'ready' && model.model !== null ? { model: { ...model.model.facts, ...input.room } } : {}),
  };
  return { status, problem };
}

interface Phase {
  readonly phase: string;
  readonly message: string;
  readonly problem?: string;
}

function phaseOf(input: StatusInput, ready: number): Phase {
  const { desired, isDeleting, model, replicas } = input;
  const left = replicas.filter(({ phase }) => phase !== 'exited').length;
  const leaving = replicas.filter(({ isLeaving }) => isLeaving).length;
  const farewell = leaving === 0 ? '' : `${counted(leaving, 'replica is', 'replicas are')} leaving`;
  if (isDeleting) {
    return { phase: 'Deleting', message: left === 0 ? '' : `waits for ${counted(left, 'replica')} to end` };
  }
  if (desired.replicas === 0) return { phase: 'Paused', message: farewell };
  if (input.unrouted !== null) {
    const problem = `it gets no requests: ${input.unrouted}`;
    return { phase: 'Failed', message: problem, problem };
  }
  if (isDone(input)) return { phase: 'Running', message: farewell };
  const hindrance = hindranceOf(input);
  const old = replicas.filter(
    (one) => !one.isLeaving && desired.specHash !== null && one.specHash !== desired.specHash,
  );
  const update = old.length === 0 ? '' : `, ${counted(old.length, 'is', 'are')} not updated yet`;
  const count = `${ready} of ${desired.replicas} replicas are ready${update}`;
  if (hindrance !== null) {
    const phase = ready > 0 ? 'Degraded' : hindrance.isPassing ? 'Pending' : 'Failed';
    const { message: problem } = hindrance;
    return { phase, message: `${count}: ${problem}${nextTry(hindrance, input.now)}`, problem };
  }
  if (model.state === 'fetching') {
    const message = downloadText(model.bytes, model.total);
    if (model.quietMs === 0) return { phase: 'ModelDownloading', message };
    return {
      phase: 'ModelDownloading',
      message: `${message}; nothing has come for ${Math.floor(model.quietMs / 1000)} s`,
      problem: 'its download has stalled: nothing comes from the registry',
    };
  }
  return { phase: 'Deploying', message: count };
}

/** What passes by itself is looked at all the time. */
function nextTry({ from = 0, isPassing }: Hindrance, now: number): string {
  return isPassing || from <= now ? '' : `; the next try is at ${new Date(from).toISOString().slice(11, 19)} UTC`;
}

function hindranceOf({ desired, hindrance, lastExit, model, replicas }: StatusInput): Hindrance | null {
  if (hindrance !== null) return hindrance;
  if (model.state === 'failed') return model;
  const current = replicas.filter((one) => !one.isLeaving && one.specHash === desired.specHash);
  const failed = current.find(({ exit, phase, restarts }) => exit !== null || (restarts > 0 && phase === 'starting'));
  if (failed !== undefined) {
    if (failed.exit === null) {
      return { message: lastExit?.text ?? 'a replica has failed and is started again', isPassing: false };
    }
    return { message: exitedText(failed.exit), isPassing: false, from: restartAfter(failed).notBefore };
  }
  const unready = current.find(({ phase }) => phase === 'unready');
  return unready === undefined
    ? null
    : { message: `replica ${unready.id} does not say that it is well any more`, isPassing: false };
}

/** All are as they should be, and there are no others but those on their way out. */
function isDone({ desired, replicas }: StatusInput): boolean {
  const staying = replicas.filter(({ isLeaving }) => !isLeaving);
  const isCurrent = (one: ObservedReplica) => isRouted(one) && one.specHash === desired.specHash;
  return staying.length === desired.replicas && staying.every(isCurrent);
}

function conditionsOf(input: StatusInput, ready: number, phase: string, message: string, now: string): Condition[] {
  const { before, desired } = input;
  const condition = (type: string, status: boolean): Condition => {
    const last = before?.conditions.find((one) => one.type === type);
    return { type, status, reason: phase, message, since: last?.status === status ? last.since : now };
  };
  return [condition('Ready', desired.replicas > 0 && ready >= desired.replicas), condition('Updated', isDone(input))];
}

function shownReplica({ exit, generation, id, isLeaving, phase, restarts, url }: ObservedReplica) {
  const message = exit === null ? '' : exitText(exit);
  return { id, phase: isLeaving ? 'leaving' : phase, generation, url, restarts, message };
}

function downloadText(bytes: number, total: number): string {
  if (total === 0) return 'asks the registry for the model';
  const size = total < 2 ** 30 ? `${(total / 2 ** 20).toFixed(1)} MiB` : `${(total / 2 ** 30).toFixed(1)} GiB`;
  return `${Math.floor((100 * bytes) / total)} % of ${size}`;
}

const counted = (count: number, one: string, several = `${one}s`) => `${count} ${count === 1 ? one : several}`;
