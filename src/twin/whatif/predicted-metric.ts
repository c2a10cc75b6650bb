import { studentT975 } from '../../experiment/comparison/paired-difference.js';
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

/** What the runs of an alternative show of one metric. */
export interface AskedMetric {
  /** Runs that differ by chance, and with percentiles as low and as high as they may be. */
  runs: readonly MetricRow[];
  /** The same runs without the calibration of TTFT. */
  plain: readonly MetricRow[];
  least: readonly MetricRow[];
  most: readonly MetricRow[];
  /** Some of the runs, and the same with step times as short and as long as they may be. */
  usual: readonly MetricRow[];
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
  const expected = median(asked.runs, metric);
  const scale = isShare ? 1 : expected;
  const predicted = isShare ? measured + expected - simulated : measured * (expected / simulated);
  const calibration = isShare ? 0 : expected / median(asked.plain, metric) - 1;
  const known = Math.hypot(Math.max(Math.abs(error), Math.abs(calibration)), REPEATED[metric]);
  const ends = [asked.fast, asked.slow].map((runs) => medianDifference(runs, asked.usual, metric));
  const reach = (sign: 1 | -1) => {
    const spread = nextRun(asked.runs, metric, expected, sign);
    const rank = median(sign < 0 ? asked.least : asked.most, metric) - expected;
    // Runs differ in the requests beyond a percentile as well: not both.
    const chance = Math.max(spread, sign * rank) / scale;
    const steps = Math.max(0, ...ends.map((end) => (sign * end) / scale));
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

/**
 * How far on one side of the median a further run may be, in 95 of 100 cases: deviations on that side, as Student's distribution
 * has it for so many runs. Policies that pile requests up have runs that are far off on one side alone.
 */
function nextRun(runs: readonly MetricRow[], metric: WhatIfMetric, expected: number, sign: 1 | -1): number {
  const count = runs.length;
  if (count < 3) return 0;
  const squares = runs.reduce((sum, run) => sum + Math.max(0, sign * (run[metric] - expected)) ** 2, 0);
  const deviation = Math.sqrt((2 * squares) / (count - 1));
  // The median and the side are both taken from the runs.
  return studentT975(count - 2) * Math.sqrt(1 + 1 / count) * deviation;
}

function claimOf(was: number, low: number, high: number, isMoreBetter: boolean): WhatIfPrediction['claim'] {
  if (low > was) return isMoreBetter ? 'better' : 'worse';
  if (high < was) return isMoreBetter ? 'worse' : 'better';
  return 'none';
}

function median(runs: readonly MetricRow[], metric: WhatIfMetric): number {
  return percentile(Float64Array.from(runs, (run) => run[metric]).sort(), 50);
}

/** Of the same runs one by one: chance is the same in both. */
function medianDifference(runs: readonly MetricRow[], than: readonly MetricRow[], metric: WhatIfMetric): number {
  return percentile(Float64Array.from(runs, (run, i) => run[metric] - than[i]![metric]).sort(), 50);
}
