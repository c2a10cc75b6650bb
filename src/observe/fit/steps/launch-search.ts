import { notBefore } from '../../../replica/latency/profile-latency.js';

/** The launch time is searched in this many steps, and then around the best in as many smaller ones. */
const LAUNCH_STEPS = 50;
/** Launching that explains less of the error than this is none. */
const LEAST_GAIN = 0.01;

/**
 * The launch time that explains steps best, up to the longest of them; 0 if none explains enough. `lossOf` is the loss
 * of a time.
 */
export function bestLaunchUs(longestUs: number, lossOf: (launchUs: number) => number): number {
  if (longestUs <= 0) return 0;
  let least = lossOf(0) * (1 - LEAST_GAIN);
  let best = 0;
  const search = (fromUs: number, toUs: number, byUs: number) => {
    for (let us = fromUs; us <= toUs; us += byUs) {
      const loss = lossOf(us);
      if (loss >= least) continue;
      least = loss;
      best = us;
    }
  };
  const coarse = longestUs / LAUNCH_STEPS;
  search(coarse, longestUs, coarse);
  if (best > 0) search(best - coarse, best + coarse, coarse / LAUNCH_STEPS);
  return best;
}

/** How a step's time follows its computation: 1 when launching is not a bound, 0 when it is the only one. */
export function boundByCompute(launchUs: number, us: number): number {
  if (launchUs === 0) return 1;
  const hair = 1e-3 * us;
  return (notBefore(launchUs, us + hair) - notBefore(launchUs, us)) / hair;
}
