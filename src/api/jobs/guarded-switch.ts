import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../../gateway/gateway.js';
import { tooFewToGuard } from '../errors.js';
import { EndedRequests, type GuardValue } from './ended-requests.js';
import type { GuardMetric } from './guard-metrics.js';
import type { JobWatch } from './job-board.js';

export interface SwitchGuard {
  readonly metric: GuardMetric;
  /** How much worse it may become: of a latency as a share of what it was, of errors in shares of all requests. */
  readonly most: number;
  readonly watchMs: number;
}

export interface SwitchResult {
  /** `kept`, `returned` because it was worse or not enough is known, or `superseded` by another change of the policy. */
  outcome: 'kept' | 'returned' | 'superseded';
  reason: string;
  metric: GuardMetric;
  before: number;
  /** Null when too few requests ended. */
  after: number | null;
  bound: number;
  requests: number;
}

/** Fewer requests say nothing about a percentile. */
export const LEAST_GUARDED = 50;
const LOOK_MS = 1000;

/** The policy of an endpoint, which a switch replaces and may restore. */
export interface SwitchTarget {
  /** The endpoint as its traffic names it. */
  readonly endpoint: string;
  /** Replaces the policy; resolves when it decides about requests. */
  apply(signal: AbortSignal): Promise<void>;
  /** Whether the policy is still the one of `apply`: a later change is not overwritten. */
  isOwn(): Promise<boolean>;
  /** The new policy stays. */
  keep(): Promise<void>;
  /** Restores the former policy, unless there was a later change or none at all: false. Resolves when it decides about requests. */
  restore(): Promise<boolean>;
}

export interface SwitchParts {
  readonly gateway: Pick<Gateway, 'nowMs' | 'traffic'>;
  readonly target: SwitchTarget;
  /** Between two looks at what ended. */
  pause?: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Gives an endpoint another policy, watches a metric for a while, and goes back if it gets worse than allowed, if too few requests
 * ended to tell, and when it is cancelled or the gateway stops. Runs in the gateway: it does not depend on who started it.
 */
export async function guardedSwitch(
  { gateway, pause = (signal) => delay(LOOK_MS, undefined, { signal }), target }: SwitchParts,
  { metric, most, watchMs }: SwitchGuard,
  { progress, signal }: JobWatch,
): Promise<SwitchResult> {
  const { endpoint } = target;
  const follows = followed(gateway, endpoint);
  const former = new EndedRequests(metric);
  const askedMs = gateway.nowMs();
  const seconds = (ms: number) => Math.min(Math.floor(ms / 1000), watchMs / 1000);
  follows.earlier(former, (askedMs - watchMs) * 1000);
  // An endpoint with little traffic, or one beside others with much: the policy in force is measured first.
  while (former.requests < LEAST_GUARDED) {
    const elapsed = gateway.nowMs() - askedMs;
    if (elapsed >= watchMs) throw tooFewToGuard(endpoint, former.requests, LEAST_GUARDED);
    const detail = `${former.requests} of ${LEAST_GUARDED} requests ended with the policy in force`;
    progress({ stage: 'measuring', done: seconds(elapsed), total: watchMs / 1000, detail });
    await pause(signal);
    signal.throwIfAborted();
    follows.into(former, 0);
  }
  const before = former.measure().value;
  const bound = metric === 'errors' ? before + most : before * (1 + most);
  const ended = (outcome: SwitchResult['outcome'], reason: string, now: GuardValue): SwitchResult => {
    const after = now.requests < LEAST_GUARDED ? null : now.value;
    return { outcome, reason, metric, before, after, bound, requests: now.requests };
  };
  const superseded = (now: GuardValue) => ended('superseded', 'the policy was changed meanwhile', now);
  const goBack = async (reason: string, now: GuardValue) =>
    (await target.restore()) ? ended('returned', reason, now) : superseded(now);
  try {
    await target.apply(signal);
    const startMs = gateway.nowMs();
    const requests = new EndedRequests(metric);
    for (;;) {
      const elapsed = gateway.nowMs() - startMs;
      follows.into(requests, startMs * 1000);
      const now = requests.measure();
      const isKnown = now.requests >= LEAST_GUARDED;
      progress({
        stage: 'watching',
        done: seconds(elapsed),
        total: watchMs / 1000,
        detail: isKnown
          ? `${metric} ${shown(metric, now.value)}, ${shown(metric, bound)} allowed`
          : `${now.requests} of ${LEAST_GUARDED} requests ended`,
      });
      if (!(await target.isOwn())) return superseded(now);
      // Before the end it has to be worse for certain: chance is looked at every second.
      if (isKnown && (elapsed < watchMs ? now.least : now.value) > bound)
        return await goBack(`${metric} became ${shown(metric, now.value)}, above ${shown(metric, bound)}`, now);
      if (elapsed >= watchMs) {
        if (!isKnown)
          return await goBack(`only ${now.requests} requests ended, of ${LEAST_GUARDED} that are needed to tell`, now);
        await target.keep();
        return ended('kept', `${metric} is ${shown(metric, now.value)}, at most ${shown(metric, bound)}`, now);
      }
      await pause(signal);
      signal.throwIfAborted();
    }
  } finally {
    await target.restore();
  }
}

/** Reads the requests of an endpoint from the ring of all endpoints as they end: the ring forgets them. */
function followed({ traffic }: Pick<Gateway, 'traffic'>, endpoint: string): Followed {
  const ring = traffic.requests;
  let next = ring.added + 1;
  return {
    earlier: (requests, fromUs) => {
      for (const one of ring.from(0, ring.size)) {
        if (one.number < next && one.endpoint === endpoint && one.arrivedUs >= fromUs) requests.add(one);
      }
    },
    into: (requests, fromUs) => {
      for (const one of ring.from(next, ring.size)) {
        if (one.endpoint === endpoint && one.arrivedUs >= fromUs) requests.add(one);
      }
      next = ring.added + 1;
    },
  };
}

interface Followed {
  /** Adds those that had ended before it began, and arrived since a time. */
  earlier(requests: EndedRequests, fromUs: number): void;
  /** Adds those that have ended since the last call, and arrived since a time. */
  into(requests: EndedRequests, fromUs: number): void;
}

function shown(metric: GuardMetric, value: number): string {
  return metric === 'errors' ? `${(100 * value).toFixed(1)} %` : `${value.toFixed(1)} ms`;
}
