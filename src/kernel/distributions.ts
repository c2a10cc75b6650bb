import type { RandomStream } from './random-stream.js';

/*
 * Samplers built on Math.log, Math.exp and Math.cos, whose last bit is not fixed by the language: round what they give
 * to whole tokens or microseconds before anything depends on it.
 */

/** Standard normal (Box-Muller). Takes two numbers from the stream each time, so the n-th sample never depends on whose turn it was. */
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
