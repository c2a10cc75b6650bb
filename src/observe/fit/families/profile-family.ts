import type { RequestCosts, StepCosts } from '../../../replica/latency/profile.js';

/** One number that a fit may turn. */
export interface FitParameter {
  name: string;
  /** Where the search starts: always above 0, and the fit keeps it there. */
  start: number;
  /**
   * How far off the start may be, as a factor less 1: one standard deviation of the prior. Data outweighs it where
   * there is enough.
   */
  doubt: number;
}

/** Profiles that differ in a handful of numbers: what is searched when only requests were watched. */
export interface ProfileFamily {
  parameters: readonly FitParameter[];
  /** Values in the order of the parameters. */
  costsOf(values: readonly number[]): { step: StepCosts; request: RequestCosts };
}

/** The start and the priors, and the values that `leastSquares` varies: logarithms of the factors on the start. */
export function valuesAt({ parameters }: ProfileFamily, logFactors: Float64Array): number[] {
  return parameters.map(({ start }, i) => start * Math.exp(logFactors[i]!));
}
