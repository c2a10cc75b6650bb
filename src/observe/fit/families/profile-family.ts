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
  /** Parameters that may all be off by one common factor, how far, and what it is a factor on. */
  together?: { names: readonly string[]; doubt: number; as: string };
  /** Values in the order of the parameters. */
  costsOf(values: readonly number[]): { step: StepCosts; request: RequestCosts };
}

/** The values that `leastSquares` varies are logarithms of the factors on the start. */
export function valuesAt({ parameters }: ProfileFamily, logFactors: Float64Array): number[] {
  return parameters.map(({ start }, i) => start * Math.exp(logFactors[i]!));
}

/** By how much, as a logarithm, the parameters that belong together are off together. */
export function commonFactor({ parameters, together }: ProfileFamily, logFactors: Float64Array): number {
  if (together === undefined) return 0;
  const logs = parameters.flatMap(({ name }, i) => (together.names.includes(name) ? [logFactors[i]!] : []));
  return logs.reduce((sum, log) => sum + log, 0) / logs.length;
}

/** How far each parameter is from its start, the common factor apart, in doubts. */
export function ownDoubts(family: ProfileFamily, logFactors: Float64Array): number[] {
  const common = commonFactor(family, logFactors);
  const shared = family.together?.names ?? [];
  return family.parameters.map(({ name, doubt }, i) => (logFactors[i]! - (shared.includes(name) ? common : 0)) / doubt);
}

/** Residuals of the prior. What is far from any expectation costs more and more: data may be misread, too. */
export function priorResiduals(family: ProfileFamily, logFactors: Float64Array): number[] {
  const own = ownDoubts(family, logFactors).map((doubts) => doubts + doubts ** 3 / 16);
  const { together } = family;
  return together === undefined ? own : [...own, commonFactor(family, logFactors) / together.doubt];
}
