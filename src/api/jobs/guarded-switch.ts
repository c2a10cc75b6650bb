import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../../gateway/gateway.js';
import { mean, percentile } from '../../kernel/percentile.js';
import { tooFewToGuard } from '../errors.js';
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
  const beforeMs = gateway.nowMs();
  const earlier = measured(gateway, endpoint, metric, (beforeMs - watchMs) * 1000, beforeMs * 1000);
  if (earlier.requests < LEAST_GUARDED) throw tooFewToGuard(endpoint, earlier.requests, LEAST_GUARDED);
  const before = earlier.value;
  const bound = metric === 'errors' ? before + most : before * (1 + most);
  const ended = (outcome: SwitchResult['outcome'], reason: string, now: Measured): SwitchResult => {
    const after = now.requests < LEAST_GUARDED ? null : now.value;
    return { outcome, reason, metric, before, after, bound, requests: now.requests };
  };
  const superseded = (now: Measured) => ended('superseded', 'the policy was changed meanwhile', now);
  const goBack = async (reason: string, now: Measured) =>
    (await target.restore()) ? ended('returned', reason, now) : superseded(now);
  try {
    await target.apply(signal);
    const startMs = gateway.nowMs();
    for (;;) {
      const elapsed = gateway.nowMs() - startMs;
      const now = measured(gateway, endpoint, metric, startMs * 1000, Number.POSITIVE_INFINITY);
      const isKnown = now.requests >= LEAST_GUARDED;
      progress({
        stage: 'watching',
        done: Math.min(Math.floor(elapsed / 1000), watchMs / 1000),
        total: watchMs / 1000,
        detail: isKnown
          ? `${metric} ${shown(metric, now.value)}, ${shown(metric, bound)} allowed`
          : `${now.requests} of ${LEAST_GUARDED} requests ended`,
      });
      if (!(await target.isOwn())) return superseded(now);
      if (isKnown && now.value > bound)
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

interface Measured {
  value: number;
  requests: number;
}

/** The metric over requests of an endpoint that arrived in a span of time and have ended. */
function measured(
  { traffic }: Pick<Gateway, 'traffic'>,
  endpoint: string,
  metric: GuardMetric,
  fromUs: number,
  toUs: number,
): Measured {
  const found = traffic.requests.before(
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    (one) =>
      one.endpoint === endpoint && one.arrivedUs >= fromUs && one.arrivedUs < toUs && one.outcome !== 'client_left',
  );
  if (metric === 'errors') {
    const failed = found.filter(({ outcome }) => outcome !== 'ok').length;
    return { value: found.length === 0 ? 0 : failed / found.length, requests: found.length };
  }
  const isTtft = metric.startsWith('ttft');
  const times = found
    .filter(({ firstTokenUs, outcome }) => outcome === 'ok' && (!isTtft || firstTokenUs >= 0))
    .map(({ arrivedUs, endedUs, firstTokenUs }) => ((isTtft ? firstTokenUs : endedUs) - arrivedUs) / 1000);
  const sorted = Float64Array.from(times).sort();
  const rank = Number(metric.slice(metric.indexOf('_p') + 2));
  const value = sorted.length === 0 ? 0 : metric.endsWith('mean') ? mean(sorted) : percentile(sorted, rank);
  return { value, requests: times.length };
}

function shown(metric: GuardMetric, value: number): string {
  return metric === 'errors' ? `${(100 * value).toFixed(1)} %` : `${value.toFixed(1)} ms`;
}
