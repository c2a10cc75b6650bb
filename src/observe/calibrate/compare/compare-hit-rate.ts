/** How much of prompts was found in a cache: shares from 0 to 1, their difference in percentage points. */
export interface HitRateComparison {
  real_hit_rate: number;
  sim_hit_rate: number;
  abs_error_pp: number;
  tolerance_pp: number;
  within: boolean;
  /** The source of the measured rate. */
  source: string;
}

/** Differences are of decimal fractions: one that is as large as the tolerance must not fail by its last bit. */
const ROUNDING_PP = 1e-9;

export function compareHitRate(
  real: { rate: number; source: string },
  sim: number,
  tolerancePp: number,
): HitRateComparison {
  const error = Math.abs(sim - real.rate) * 100;
  return {
    real_hit_rate: real.rate,
    sim_hit_rate: sim,
    abs_error_pp: error,
    tolerance_pp: tolerancePp,
    within: error <= tolerancePp + ROUNDING_PP,
    source: real.source,
  };
}
