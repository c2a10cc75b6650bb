import { gaussian } from '../../kernel/distributions.js';
import type { RandomStream } from '../../kernel/random-stream.js';
import { workloadFlagInvalid } from '../errors.js';

/** Token counts around a mean, kept within bounds. */
export interface Lengths {
  mean: number;
  stdev: number;
  min: number;
  max: number;
}

const MAX_TOKENS = 2 ** 31 - 1;

/** Whole numbers, at least 1. Nothing is drawn where nothing varies. */
export function lengthSampler({ mean, stdev, min, max }: Lengths, random: RandomStream): () => number {
  if (min === max || stdev === 0) {
    const length = Math.max(1, Math.round(Math.min(max, Math.max(min, mean))));
    return () => length;
  }
  return () => Math.max(1, Math.round(Math.min(max, Math.max(min, mean + stdev * gaussian(random)))));
}

/** `flag` is `--prompt-tokens` or `--output-tokens`; the other three are named after it. */
export function checkLengths({ mean, stdev, min, max }: Lengths, flag: string): void {
  for (const [name, value] of [
    [flag, mean],
    [`${flag}-stdev`, stdev],
    [`${flag}-min`, min],
    [`${flag}-max`, max],
  ] as const) {
    if (!(value >= 0 && value <= MAX_TOKENS)) {
      throw workloadFlagInvalid(name, `${value} is not a number of tokens`, `give a number from 0 to ${MAX_TOKENS}`);
    }
  }
  if (min > max) throw workloadFlagInvalid(`${flag}-min`, `${min} is above ${flag}-max ${max}`, 'swap the two');
  if (mean < min || mean > max) {
    throw workloadFlagInvalid(flag, `the mean ${mean} is outside ${min} to ${max}`, `move ${flag}-min or ${flag}-max`);
  }
}
