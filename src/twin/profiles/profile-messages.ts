import type { Drift } from '../../gateway/prediction/drift-watch.js';
import type { ProfileErrors } from '../../gateway/prediction/profile-book.js';
import type { SampleColumns } from '../../gateway/prediction/request-samples.js';
import { LEAST_FITTED, LEAST_SCORED } from './fit/engine-traces.js';

/** What logs and events say of profiles. */

/** @param lasted for how long */
export function driftMessage({ error, metric, usual }: Drift, lasted: string, why: string): string {
  return `the ${metric.toUpperCase()} error of predictions is ${percent(error)} instead of ${percent(usual)} ${lasted}: ${why}`;
}

export function fittedMessage(engine: string, { e2e, itl, requests, ttft }: ProfileErrors, why: string | null): string {
  const off = `TTFT ${percent(ttft)}, ITL ${percent(itl)}, E2E ${percent(e2e)} off on ${requests} newer requests`;
  return `engine ${engine}: ${off}${why === null ? '' : `; ${why}`}`;
}

/** Why nothing could be fitted to these requests. */
export function tooFewMessage({ count, ttftUs }: SampleColumns): string {
  const whole = ttftUs.reduce((sum, us) => sum + (Number.isNaN(us) ? 0 : 1), 0);
  return whole < LEAST_FITTED + LEAST_SCORED
    ? `only ${whole} of ${count} requests were streamed, complete and had their tokens counted by the engine: nothing is predicted`
    : 'too few requests of one replica: nothing is predicted until there are more';
}

export function minutesText(us: number): string {
  const count = Math.round(us / 60e6);
  return count === 1 ? 'a minute' : `${count} minutes`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}
