import { gammaFunction } from '../../kernel/distributions.js';
import { mean } from '../../kernel/percentile.js';
import { weibullShape } from '../arrivals/weibull.js';
import type { ArrivalSpec } from '../spec/workload-spec.js';
import { digits } from './fit-lengths.js';

/** With fewer gaps the variation is not significant. */
const LEAST_GAPS = 20;
/** A variation this close to 1, plus a margin for chance, counts as that of independent arrivals. */
const POISSON_BAND = 0.05;
const STANDARD_ERRORS = 2;
const CONSTANT_BELOW = 0.05;
const GREATEST_CV = 10;

/** How the trace's clock ticks: 0 when it is finer than the traffic, else microseconds. */
export function clockTick(order: Int32Array, arrivalUs: Float64Array): number {
  const gaps: number[] = [];
  for (let i = 1; i < order.length; i++) {
    const gap = arrivalUs[order[i]!]! - arrivalUs[order[i - 1]!]!;
    if (gap > 0) gaps.push(gap);
  }
  // Most requests share their time with another one: times were rounded.
  if (gaps.length === 0 || gaps.length > (order.length - 1) / 2) return 0;
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1]!;
}

/**
 * The process that begins sessions or requests with these gaps between them.
 * @param counts how many arrive in each tick of a coarse clock; null when the gaps themselves are exact
 */
export function fitArrival(gaps: Float64Array, counts: Float64Array | null): ArrivalSpec {
  if (gaps.length < LEAST_GAPS) return { process: 'poisson' };
  const cv = counts === null ? variation(gaps) : Math.sqrt(dispersion(counts));
  if (cv < CONSTANT_BELOW) return { process: 'constant' };
  if (Math.abs(cv - 1) <= POISSON_BAND + STANDARD_ERRORS / Math.sqrt(gaps.length)) return { process: 'poisson' };
  const bounded = Math.min(cv, GREATEST_CV);
  const process = counts === null && weibullIsLikelier(gaps, bounded) ? 'weibull' : 'gamma';
  return { process, cv: digits(bounded) };
}

/** @param timesUs from the start of the trace */
export function countsByTick(timesUs: Float64Array, tickUs: number, durationUs: number): Float64Array {
  const counts = new Float64Array(Math.ceil(durationUs / tickUs));
  // Ticks are not exact: the middle of one is the best estimate.
  for (let i = 0; i < timesUs.length; i++) {
    counts[Math.min(counts.length - 1, Math.floor(timesUs[i]! / tickUs + 0.5))]!++;
  }
  return counts;
}

/** The standard deviation over the mean; 0 when there is neither. */
export function variation(gaps: Float64Array): number {
  const center = mean(gaps);
  if (center === 0) return 0;
  let sum = 0;
  for (let i = 0; i < gaps.length; i++) sum += (gaps[i]! - center) ** 2;
  return Math.sqrt(sum / gaps.length) / center;
}

/** The variance of the number of arrivals in a tick over its mean: what the squared variation of gaps tends to. */
function dispersion(counts: Float64Array): number {
  return variation(counts) ** 2 * mean(counts);
}

/** Both distributions with the mean and the variation of the gaps: the likelier one wins. */
function weibullIsLikelier(gaps: Float64Array, cv: number): boolean {
  const center = mean(gaps);
  const gammaShape = 1 / (cv * cv);
  const gammaScale = center * cv * cv;
  const shape = weibullShape(cv);
  const scale = center / gammaFunction(1 + 1 / shape);
  let logSum = 0;
  let powerSum = 0;
  for (let i = 0; i < gaps.length; i++) {
    // Gaps are whole microseconds when they are generated, 1 at least.
    const gap = Math.max(1, gaps[i]!);
    logSum += Math.log(gap);
    powerSum += (gap / scale) ** shape;
  }
  const n = gaps.length;
  const gammaLikelihood =
    (gammaShape - 1) * logSum -
    (n * center) / gammaScale -
    n * (logGamma(gammaShape) + gammaShape * Math.log(gammaScale));
  const weibullLikelihood = n * (Math.log(shape) - shape * Math.log(scale)) + (shape - 1) * logSum - powerSum;
  return weibullLikelihood > gammaLikelihood;
}

/** Shapes here are at least 1 / GREATEST_CV squared and at most 1 / CONSTANT_BELOW squared. */
function logGamma(x: number): number {
  if (x < 10) return Math.log(gammaFunction(x));
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + 1 / (12 * x);
}
