import type { LatencyMeasure } from '../../experiment/metrics.js';
import type { Slo } from '../../experiment/plan/slo.js';
import { above, whole } from '../../schema/fields.js';
import { badValue } from '../errors.js';
import { readDuration } from '../flags/read-list.js';
import { readNumber } from '../flags/read-number.js';

/** A load as it was asked for: requests per second, or times the traffic that is given. */
export interface WantedRate {
  unit: 'per-second' | 'times';
  value: number;
}

/** Percentiles of gaps that runs report. */
const ITL_PERCENTILES = [50, 90, 95, 99];
const MOST_RATE = 1_000_000;

/** `p99=500ms`, `mean=30ms`, several with commas between them. A bare duration is a p99. */
export function readSlos(of: LatencyMeasure['of'], text: string, place: string): Slo[] {
  const slos = text.split(',').map((item): Slo => {
    const equals = item.indexOf('=');
    const statistic = equals < 0 ? 'p99' : item.slice(0, equals).trim().toLowerCase();
    const limitMs = readDuration(item.slice(equals + 1).trim(), place) / 1000;
    return { of, at: readStatistic(of, statistic, text, place), limitMs };
  });
  const twice = slos.find((slo, i) => slos.findIndex(({ at }) => at === slo.at) < i);
  if (twice !== undefined) {
    throw badValue(place, text, `has ${twice.at === 'mean' ? 'mean' : `p${twice.at}`} twice`, 'each statistic once');
  }
  return slos;
}

function readStatistic(of: LatencyMeasure['of'], statistic: string, text: string, place: string): LatencyMeasure['at'] {
  if (statistic === 'mean') return 'mean';
  const match = /^p(\d{1,2}(?:\.\d{1,3})?)$/.exec(statistic);
  const p = match === null ? Number.NaN : Number(match[1]);
  if (!(p > 0))
    throw badValue(place, text, `has no statistic '${statistic}'`, "'mean' or a percentile, as in 'p99=500ms'");
  if (of === 'itl' && !ITL_PERCENTILES.includes(p)) {
    const accepted = `'mean' or one of ${ITL_PERCENTILES.map((one) => `p${one}`).join(', ')}; any percentile with --slo-tpot`;
    throw badValue(place, text, `has a percentile of gaps that is not measured`, accepted);
  }
  return p;
}

/** `60`, `3x`, `20,40,60`. */
export function readRates(text: string, place: string): WantedRate[] {
  return text.split(',').map((item) => {
    const given = item.trim();
    const times = /^(.+)x$/i.exec(given);
    const schema = above(0, MOST_RATE);
    return times === null
      ? { unit: 'per-second', value: readNumber(given, place, schema) }
      : { unit: 'times', value: readNumber(times[1]!.trim(), place, schema) };
  });
}

export function readNames(text: string, place: string): string[] {
  const names = text.split(',').map((item) => item.trim());
  if (names.includes('')) throw badValue(place, text, 'has an empty name', 'names with commas between them');
  return [...new Set(names)];
}

export function readCounts(text: string, place: string): number[] {
  const schema = whole(1, 1024);
  return [...new Set(text.split(',').map((item) => readNumber(item.trim(), place, schema)))];
}
