import { GUARD_METRICS, type GuardMetric } from '../../api/jobs/guard-metrics.js';
import { badChoice, badValue } from '../errors.js';

/** When a switch is undone. */
export interface Guard {
  readonly metric: GuardMetric;
  /** How much worse it may become, as a share. */
  readonly most: number;
}

export const GUARD_EXAMPLE = "a metric and how much worse it may become, as in 'ttft-p90:+10%' or 'errors:+1%'";
const MOST_PERCENT = 10_000;

export const flagName = (metric: string) => metric.replaceAll('_', '-');

export const guardNames: readonly string[] = GUARD_METRICS.map(flagName);

/** `ttft-p90:+10%`: of a latency relative to what it was before, of errors in points. */
export function readGuard(text: string, place: string): Guard {
  const given = text.trim();
  const colon = given.lastIndexOf(':');
  if (colon < 1) throw badValue(place, text, 'is not of the form metric:bound', GUARD_EXAMPLE);
  const name = given.slice(0, colon).replaceAll('_', '-');
  const metric = GUARD_METRICS.find((one) => flagName(one) === name);
  if (metric === undefined) throw badChoice(place, name, guardNames);
  const bound = /^\+?(\d+(?:\.\d+)?)%$/.exec(given.slice(colon + 1).trim());
  if (bound === null) throw badValue(place, text, 'has no bound in percent', GUARD_EXAMPLE);
  const percent = Number(bound[1]);
  if (percent > MOST_PERCENT) throw badValue(place, text, `allows more than ${MOST_PERCENT}%`, GUARD_EXAMPLE);
  return { metric, most: percent / 100 };
}

export const guardText = ({ metric, most }: Guard) => `${flagName(metric)}:+${Number((100 * most).toFixed(6))}%`;
