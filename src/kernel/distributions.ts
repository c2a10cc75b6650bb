import type { RandomStream } from './random-stream.js';

/*
 * Samplers built on Math.log, Math.exp and Math.cos, whose last bit is not fixed by the language: round the results
 * to whole tokens or microseconds before anything depends on it.
 */

/** Standard normal (Box-Muller). Takes two numbers from the stream each time, so the n-th sample does not depend on earlier callers. */
export function gaussian(random: RandomStream): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}

/** Exponential with the given mean. */
export function exponential(random: RandomStream, mean: number): number {
  return -mean * Math.log(1 - random.next());
}

/** Lognormal: `mu` and `sigma` are the mean and spread of the logarithm. */
export function lognormal(random: RandomStream, mu: number, sigma: number): number {
  return Math.exp(mu + sigma * gaussian(random));
}

/** Pareto: never below `least`; the probability to exceed a value falls with its power `alpha`. */
export function pareto(random: RandomStream, least: number, alpha: number): number {
  return least * (1 - random.next()) ** (-1 / alpha);
}

/** Weibull, by the inverse of its distribution function. */
export function weibull(random: RandomStream, shape: number, scale: number): number {
  return scale * (-Math.log(1 - random.next())) ** (1 / shape);
}

/** Gamma with mean shape * scale (Marsaglia and Tsang). How many numbers it takes from the stream varies. */
export function gamma(random: RandomStream, shape: number, scale: number): number {
  // Below 1 the method does not work: draw for shape + 1 and shrink.
  const shrink = shape < 1 ? (1 - random.next()) ** (1 / shape) : 1;
  const d = (shape < 1 ? shape + 1 : shape) - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = gaussian(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random.next()) < x * x * 0.5 + d - d * v + d * Math.log(v)) return d * v * scale * shrink;
  }
}

/** The gamma function of a number of at least 0.5 (Lanczos, to about 13 digits). */
export function gammaFunction(x: number): number {
  const t = x + 6.5;
  let sum = 0.99999999999980993;
  for (let i = 0; i < LANCZOS.length; i++) sum += LANCZOS[i]! / (x + i);
  return Math.sqrt(2 * Math.PI) * t ** (x - 0.5) * Math.exp(-t) * sum;
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];
