import { badCoefficients } from '../../errors.js';

/** Per-request overheads in microseconds: before queueing, after the last token, per token. */
const FITTED_ALPHA: readonly number[] = [15563.199579, 777.3455, 45.907545];

/** Weights of the terms of a step, in the order of `StepWeights`. */
const FITTED_BETA: readonly number[] = [
  0.152128, 0, 1.36252915, 0.752037, 32.09546717, 4.41684444, 126.024825, 481.8613888, 0, 1.94710771, 0.752037,
];

const LEAST_BETA = 7;
const MOST_BETA = 11;

/** Beta by meaning. */
export interface StepWeights {
  prefillCompute: number;
  decodeCompute: number;
  weightLoad: number;
  allReduce: number;
  perLayer: number;
  perRequest: number;
  perStep: number;
  perInterleavedMoeLayer: number;
  prefillKv: number;
  decodeKv: number;
  moeDispatch: number;
  /** Compute and KV traffic are separate terms; a set that stops before their weights takes the larger of the two. */
  separatePrefillKv: boolean;
  separateDecodeKv: boolean;
}

export interface Coefficients {
  alpha: readonly number[];
  weights: StepWeights;
}

/** The fitted coefficients, or the user's own: both lists or none. */
export function coefficients(alpha: readonly number[] | undefined, beta: readonly number[] | undefined): Coefficients {
  if (alpha === undefined && beta === undefined) return { alpha: FITTED_ALPHA, weights: stepWeights(FITTED_BETA) };
  if (alpha === undefined) throw badCoefficients('--alpha-coeffs', 'missing next to --beta-coeffs', 'give both');
  if (beta === undefined) throw badCoefficients('--beta-coeffs', 'missing next to --alpha-coeffs', 'give both');
  check('--alpha-coeffs', alpha, FITTED_ALPHA.length, FITTED_ALPHA.length);
  check('--beta-coeffs', beta, LEAST_BETA, MOST_BETA);
  return { alpha, weights: stepWeights(beta) };
}

function stepWeights(beta: readonly number[]): StepWeights {
  const allReduce = beta[3]!;
  return {
    prefillCompute: beta[0]!,
    decodeCompute: beta[1]!,
    weightLoad: beta[2]!,
    allReduce,
    perLayer: beta[4]!,
    perRequest: beta[5]!,
    perStep: beta[6]!,
    perInterleavedMoeLayer: beta[7] ?? 0,
    prefillKv: beta[8] ?? 0,
    decodeKv: beta[9] ?? 0,
    moeDispatch: beta[10] ?? allReduce,
    separatePrefillKv: beta.length >= 9,
    separateDecodeKv: beta.length >= 10,
  };
}

function check(flag: string, values: readonly number[], least: number, most: number): void {
  const accepted = least === most ? `give ${least} numbers` : `give ${least} to ${most} numbers`;
  if (values.length < least || values.length > most) {
    throw badCoefficients(flag, `${values.length} values`, accepted);
  }
  const wrong = values.findIndex((value) => !(value >= 0 && Number.isFinite(value)));
  if (wrong >= 0) throw badCoefficients(flag, `value ${wrong + 1} is ${values[wrong]}`, 'give numbers of at least 0');
}
