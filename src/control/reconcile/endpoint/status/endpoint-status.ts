import { gpuName } from '../../../resources/fit/gpu-name.js';
import type { Condition, Status } from '../../../resources/resource.js';
import type { ModelState } from '../../models/model-state.js';
import { type DesiredEndpoint, isRouted, isStillReached, type ObservedReplica } from '../plan/endpoint-state.js';
import { restartAfter } from '../plan/restart-after.js';
import { exitedText, exitText } from './exit-text.js';

/** Why the desired state is not reached. */
export interface Blocker {
  readonly message: string;
  /** It may go away by itself: nothing is wrong with the endpoint. */
  readonly isTransient: boolean;
  /** When the next attempt is made, if not soon. */
  readonly retryAt?: number;
}

/** How a replica ended last that was not stopped. */
export interface LastExit {
  readonly text: string;
  readonly lines: readonly string[];
}

export interface StatusInput {
  readonly desired: DesiredEndpoint;
  readonly isDeleting: boolean;
  readonly generation: number;
  /** After the plan has been applied. */
  readonly replicas: readonly ObservedReplica[];
  readonly model: ModelState;
  /** What keeps replicas from being started, or from being described at all. */
  readonly blocker: Blocker | null;
  /** Why the gateway does not route to it, regardless of the state of its replicas. */
  readonly unrouted: string | null;
  /** How much context a replica can hold, where that is known. */
  readonly kvFacts: Readonly<Record<string, unknown>>;
  readonly lastExit: LastExit | null;
  readonly url: string;
  readonly before: Status | null;
  readonly now: number;
}

export interface EndpointStatus {
  readonly status: Status;
  /** What is wrong; the text stays the same as long as the problem does. */
  readonly problem: string | null;
}

/** The status of an endpoint, a function of desired and observed state. */
export function endpointStatus(input: StatusInput): EndpointStatus {
  const { before, generation, model, now, replicas, url } = input;
  const ready = replicas.filter(isRouted).length;
  const facts = factsOf(input, ready);
  const { message, phase, problem = null } = phaseOf(input, ready, facts);
  const isFailing = phase === 'Failed' || phase === 'Degraded';
  const lines = input.lastExit?.lines ?? (before?.last_lines as string[] | undefined) ?? [];
  const status = {
    phase,
    message,
    observed_generation: generation,
    conditions: conditionsOf(facts, before, { phase, message }, new Date(now).toISOString()),
    ready,
    replicas: replicas.map(shownReplica),
    url,
    ...(model.state === 'fetching' ? { download: { bytes: model.bytes, total: model.total } } : {}),
    ...(isFailing && lines.length > 0 ? { last_lines: lines } : {}),
    ...(model.state === 'ready' && model.model !== null ? { model: { ...model.model.facts, ...input.kvFacts } } : {}),
  };
  return { status, problem };
}

interface Phase {
  readonly phase: string;
  readonly message: string;
  readonly problem?: string;
}

/** What conditions state. The phase follows from it, so that the two never contradict each other. */
interface Facts {
  readonly Ready: boolean;
  readonly Updated: boolean;
}

function factsOf(input: StatusInput, ready: number): Facts {
  const { desired, isDeleting, unrouted } = input;
  const isServed = unrouted === null && !isDeleting;
  return {
    Ready: isServed && desired.replicas > 0 && ready >= desired.replicas,
    Updated: isServed && isDone(input),
  };
}

function phaseOf(input: StatusInput, ready: number, facts: Facts): Phase {
  const { desired, isDeleting, model, replicas } = input;
  const left = replicas.filter(({ phase }) => phase !== 'exited').length;
  const draining = replicas.filter(({ isDraining }) => isDraining).length;
  const drainText = draining === 0 ? '' : `${counted(draining, 'replica is', 'replicas are')} draining`;
  if (isDeleting) {
    return { phase: 'Deleting', message: left === 0 ? '' : `waiting for ${counted(left, 'replica')} to end` };
  }
  if (desired.replicas === 0) return { phase: 'Paused', message: drainText };
  if (input.unrouted !== null) {
    const problem = `the gateway cannot route to it: ${input.unrouted}`;
    return { phase: 'Failed', message: problem, problem };
  }
  if (facts.Ready && facts.Updated) return { phase: 'Running', message: drainText };
  const blocker = blockerOf(input);
  const staying = replicas.filter(({ isDraining }) => !isDraining);
  const outdated = staying.filter((one) => desired.specHash !== null && one.specHash !== desired.specHash).length;
  const leaving = staying.filter(({ isLeaving }) => isLeaving).length;
  const update = outdated === 0 ? '' : `, ${counted(outdated, 'is', 'are')} not updated yet`;
  const exchange = leaving === 0 ? '' : `, ${counted(leaving, 'leaves', 'leave')} as soon as another one serves`;
  const count = `${ready} of ${desired.replicas} replicas are ready${update}${exchange}`;
  if (blocker !== null) {
    const isServing = ready > 0 || replicas.some(isStillReached);
    const phase = isServing ? 'Degraded' : blocker.isTransient ? 'Pending' : 'Failed';
    const { message: problem } = blocker;
    return { phase, message: `${count}: ${problem}${nextAttempt(blocker, input.now)}`, problem };
  }
  if (model.state === 'fetching') {
    const message = downloadText(model.bytes, model.total);
    if (model.quietMs === 0) return { phase: 'ModelDownloading', message };
    return {
      phase: 'ModelDownloading',
      message: `${message}; no data for ${Math.floor(model.quietMs / 1000)} s`,
      problem: 'the download has stalled: no data from the registry',
    };
  }
  return { phase: 'Deploying', message: count };
}

/** Transient blockers are checked all the time. */
function nextAttempt({ isTransient, retryAt = 0 }: Blocker, now: number): string {
  return isTransient || retryAt <= now ? '' : `; next attempt at ${new Date(retryAt).toISOString().slice(11, 19)} UTC`;
}

function blockerOf({ blocker, desired, lastExit, model, replicas }: StatusInput): Blocker | null {
  if (blocker !== null) return blocker;
  if (model.state === 'failed') return model;
  const current = replicas.filter((one) => !one.isDraining && one.specHash === desired.specHash);
  const failed = current.find(({ exit, phase, restarts }) => exit !== null || (restarts > 0 && phase === 'starting'));
  if (failed !== undefined) {
    if (failed.exit === null) {
      return { message: lastExit?.text ?? 'a replica has failed and was restarted', isTransient: false };
    }
    return { message: exitedText(failed.exit), isTransient: false, retryAt: restartAfter(failed).notBefore };
  }
  const held = current.find(({ problem }) => problem !== null);
  if (held !== undefined) return { message: `replica ${held.id}: ${held.problem}`, isTransient: true };
  const unready = current.find(({ phase }) => phase === 'unready');
  if (unready === undefined) return null;
  const problem = isStillReached(unready)
    ? 'is not ready in its cluster; the gateway still reaches it'
    : 'fails its health check';
  return { message: `replica ${unready.id} ${problem}`, isTransient: false };
}

/** All replicas are as desired, and there are no others but draining ones. */
function isDone({ desired, replicas }: StatusInput): boolean {
  const staying = replicas.filter(({ isDraining }) => !isDraining);
  const isCurrent = (one: ObservedReplica) => isRouted(one) && !one.isLeaving && one.specHash === desired.specHash;
  return staying.length === desired.replicas && staying.every(isCurrent);
}

function conditionsOf(facts: Facts, before: Status | null, { message, phase }: Phase, now: string): Condition[] {
  return Object.entries(facts).map(([type, status]): Condition => {
    const last = before?.conditions.find((one) => one.type === type);
    return {
      type,
      status,
      reason: phase,
      message,
      since: last !== undefined && last.status === status ? last.since : now,
    };
  });
}

function shownReplica(replica: ObservedReplica) {
  const { exit, generation, gpus, id, isDraining, isLeaving, phase, problem, restarts, url } = replica;
  const message = exit === null ? (problem ?? '') : exitText(exit);
  const product = gpus?.[0]?.product;
  const gpu = product === undefined ? {} : { gpu: gpuName(product) };
  const leaving = isLeaving ? { leaving: true } : {};
  return { id, phase: isDraining ? 'draining' : phase, generation, url, restarts, ...gpu, ...leaving, message };
}

function downloadText(bytes: number, total: number): string {
  if (total === 0) return 'resolving the model at its registry';
  const size = total < 2 ** 30 ? `${(total / 2 ** 20).toFixed(1)} MiB` : `${(total / 2 ** 30).toFixed(1)} GiB`;
  return `${Math.floor((100 * bytes) / total)} % of ${size}`;
}

const counted = (count: number, one: string, several = `${one}s`) => `${count} ${count === 1 ? one : several}`;
