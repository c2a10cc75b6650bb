import { mean, percentile } from '../../kernel/percentile.js';
import type { LengthSpec } from '../spec/workload-spec.js';

/** Lengths and pauses closer to each other than this share count as one in an empirical distribution. */
const TOKEN_STEP = 0.02;
export const PAUSE_STEP = 0.05;
/** With fewer values distributions cannot be distinguished: the values themselves are used. */
const LEAST_VALUES = 200;
/** Of the Kolmogorov-Smirnov distance times the root of the number of values: more than chance explains. */
const MOST_DISTANCE = 1.36;
/** How far quantiles and the mean may be off, in standard errors, and as a share on top. */
const STANDARD_ERRORS = 2;
const SLACK = 0.002;
const MEAN_SLACK = 0.01;

interface Candidate {
  spec: LengthSpec;
  /** The share of values up to this one, before the cut at min and max. */
  below(value: number): number;
}

/**
 * The distribution that whole numbers come from: a constant, a gaussian or a lognormal one where the difference could be
 * chance, or else the numbers themselves with their shares.
 */
export function fitLengths(values: Float64Array, step = TOKEN_STEP): LengthSpec {
  const sorted = values.slice().sort();
  const least = sorted[0] ?? 1;
  if (sorted.length === 0 || least === sorted[sorted.length - 1]) return { type: 'constant', params: { value: least } };
  const laws = sorted.length < LEAST_VALUES ? [] : [gaussianOf(sorted), lognormalOf(sorted)];
  const law = laws.find((candidate) => candidate !== undefined && fits(candidate, sorted));
  return law?.spec ?? empiricalOf(sorted, step);
}

function gaussianOf(sorted: Float64Array): Candidate {
  const center = mean(sorted);
  const deviation = deviationOf(sorted, center);
  return {
    spec: { type: 'gaussian', params: { mean: digits(center), std_dev: digits(deviation), ...boundsOf(sorted) } },
    below: (value) => normalBelow((value - center) / deviation),
  };
}

function lognormalOf(sorted: Float64Array): Candidate | undefined {
  if (sorted[0]! <= 0) return undefined;
  const logarithms = sorted.map(Math.log);
  const mu = mean(logarithms);
  const sigma = deviationOf(logarithms, mu);
  return {
    spec: { type: 'lognormal', params: { mu: digits(mu), sigma: digits(sigma), ...boundsOf(sorted) } },
    below: (value) => normalBelow((Math.log(value) - mu) / sigma),
  };
}

/** Whether values drawn from the candidate could look like these: as a whole, at the median and in the tail. */
function fits({ below }: Candidate, sorted: Float64Array): boolean {
  const n = sorted.length;
  const most = sorted[n - 1]!;
  let sum = 0;
  let valueBefore = sorted[0]!;
  let shareBefore = 0;
  for (let i = 0; i < n; ) {
    const value = sorted[i]!;
    let next = i + 1;
    while (next < n && sorted[next] === value) next++;
    // Rounded values: all up to the half above count as this one.
    const share = value === most ? 1 : below(value + 0.5);
    if (Math.abs(share - next / n) * Math.sqrt(n) > MOST_DISTANCE) return false;
    sum += ((value + valueBefore) / 2) * (share - shareBefore);
    valueBefore = value;
    shareBefore = share;
    i = next;
  }
  for (const p of [50, 90, 99]) {
    const chance = Math.sqrt(((p / 100) * (1 - p / 100)) / n);
    if (Math.abs(below(percentile(sorted, p)) - p / 100) > STANDARD_ERRORS * chance + SLACK) return false;
  }
  const center = mean(sorted);
  const chance = deviationOf(sorted, center) / Math.sqrt(n);
  return Math.abs(sum - center) <= STANDARD_ERRORS * chance + MEAN_SLACK * center;
}

/** Each value with its share; neighbours closer than `step` together under their mean. */
function empiricalOf(sorted: Float64Array, step: number): LengthSpec {
  const params: Record<string, number> = {};
  for (let i = 0; i < sorted.length; ) {
    const last = sorted[i]! * (1 + step);
    let next = i;
    let sum = 0;
    while (next < sorted.length && sorted[next]! <= last) sum += sorted[next++]!;
    const value = Math.round(sum / (next - i));
    params[value] = digits((params[value] ?? 0) + (next - i) / sorted.length);
    i = next;
  }
  return { type: 'empirical', params };
}

function boundsOf(sorted: Float64Array): { min: number; max: number } {
  return { min: sorted[0]!, max: sorted[sorted.length - 1]! };
}

function deviationOf(values: Float64Array, center: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i]! - center) ** 2;
  return Math.sqrt(sum / values.length);
}

/** Six digits are far more than a fit knows, and the same on every machine. */
export function digits(value: number): number {
  return Number(value.toPrecision(6));
}

/** The share of a standard normal distribution below z: Abramowitz and Stegun 26.2.17, exact to seven digits. */
function normalBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const above = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
  return z >= 0 ? 1 - above : above;
}
