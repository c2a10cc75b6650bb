import type { RandomStream } from '../../kernel/random-stream.js';

/** The gaps between the arrivals of one client. */
export interface GapSampler {
  /** Microseconds until the next arrival, as drawn: not rounded, and possibly 0. */
  draw(random: RandomStream): number;
}

/** How the gaps vary: the coefficient of variation, or shape and scale as fitted; unused ones are 0. */
export interface GapParameters {
  cv: number;
  shape: number;
  /** Microseconds. */
  scaleUs: number;
}

/** An arrival process: one file and one line in the registry. */
export interface ArrivalProcess {
  name: string;
  /** One line for the documentation. */
  summary: string;
  /** The range of its coefficient of variation; null when that is fixed. */
  cv: { min: number; max: number } | null;
  /** Gaps with this mean, or with an explicit shape and scale. */
  create(meanGapUs: number, parameters: GapParameters): GapSampler;
}
