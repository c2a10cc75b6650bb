import { percentile } from '../../kernel/percentile.js';
import type { MetricRow, WhatIfMetric } from './recorded-metrics.js';
import type { BaselineMetric, WhatIfPrediction } from './whatif-document.js';

/**
 * By how much two runs of the same requests on the same hardware differ, as a share of the value: 95 % of pairs. Of TTFT and
 * E2E as repeated runs show (docs/fidelity.md); of a share in points.
 */
const REPEATED: Readonly<Record<WhatIfMetric, number>> = {
  ttft_mean_ms: 0.04,
  ttft_p50_ms: 0.04,
  ttft_p90_ms: 0.06,
  ttft_p99_ms: 0.1,
  itl_mean_ms: 0.02,
  e2e_mean_ms: 0.02,
  e2e_p99_ms: 0.03,
  cached_share: 0.005,
};

/** From the 10th and 90th percentile of runs to the ends of a 95 % interval, as of a normal distribution. */
const SPREAD = 1.53;
/**
 * Under policies that pile requests up some runs are far off, and those differ most: where the 20th or 80th percentile is off by this share,
 * the interval begins at the least and ends at the greatest of about eleven, as of a normal distribution.
 */
const FAR_OFF = 0.1;
const END_SPREAD = 1.23;

/** What the runs of an alternative show of one metric. */
export interface AskedMetric {
  /** Runs that differ by chance, and with percentiles as low and as high as they may be. */
  runs: readonly MetricRow[];
  /** The same runs without the calibration of TTFT. */
  plain: readonly MetricRow[];
  least: readonly MetricRow[];
  most: readonly MetricRow[];
  /** Runs with step times as short and as long as they may be. */
  fast: readonly MetricRow[];
  slow: readonly MetricRow[];
}

/**
 * What would have been measured: the measured value times the simulated change. Its interval has the error of the baseline,
 * what step times may be off by, the spread of runs, and that of hardware from one run to the next. A calibration is trusted no further
 * than its own size.
 * @param simulated the baseline, calibrated as the runs are
 */
export function predictMetric(baseline: BaselineMetric, simulated: number, asked: AskedMetric): WhatIfPrediction {
  const { error, measured, metric } = baseline;
  const isShare = metric === 'cached_share';
  // One run of several may meet a queue that the others do not: the median is what to expect.
  const expected = quantile(asked.runs, metric, 50);
  const scale = isShare ? 1 : expected;
  const predicted = isShare ? measured + expected - simulated : measured * (expected / simulated);
  const calibration = isShare ? 0 : expected / quantile(asked.plain, metric, 50) - 1;
  const known = Math.hypot(Math.max(Math.abs(error), Math.abs(calibration)), REPEATED[metric]);
  const ends = [asked.fast, asked.slow].map((runs) => quantile(runs, metric, 50));
  const reach = (sign: 1 | -1) => {
    const at = (p: number) => Math.abs(quantile(asked.runs, metric, 50 + sign * p) - expected);
    const spread = Math.max(SPREAD * at(40), at(30) > FAR_OFF * scale ? END_SPREAD * at(50) : 0);
    const rank = quantile(sign < 0 ? asked.least : asked.most, metric, 50) - expected;
    const chance = Math.hypot(spread, rank) / scale;
    const steps = Math.max(0, ...ends.map((end) => (sign * (end - expected)) / scale));
    return Math.hypot(known, chance, steps) * (isShare ? 1 : predicted);
  };
  const low = Math.max(0, predicted - reach(-1));
  const high = isShare ? Math.min(1, predicted + reach(1)) : predicted + reach(1);
  const change = (value: number) => (isShare ? value - measured : value / measured - 1);
  return {
    ...{ metric, was: measured, predicted, low, high },
    ...{ change: change(predicted), changeLow: change(low), changeHigh: change(high) },
    claim: claimOf(measured, low, high, isShare),
  };
}

function claimOf(was: number, low: number, high: number, isMoreBetter: boolean): WhatIfPrediction['claim'] {
  if (low > was) return isMoreBetter ? 'better' : 'worse';
  if (high < was) return isMoreBetter ? 'worse' : 'better';
  return 'none';
}

function quantile(runs: readonly MetricRow[], metric: WhatIfMetric, p: number): number {
  return percentile(Float64Array.from(runs, (run) => run[metric]).sort(), p);
}
