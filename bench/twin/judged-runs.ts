import { type MetricRow, WHAT_IF_TITLES, type WhatIfMetric } from '../../src/twin/whatif/recorded-metrics.js';
import type { WhatIfAlternative, WhatIfDocument, WhatIfPrediction } from '../../src/twin/whatif/whatif-document.js';

/** What has to hold besides the interval: shares of the value, and points. */
const BOUNDS: Partial<Record<WhatIfMetric, number>> = {
  ttft_mean_ms: 0.1,
  ttft_p90_ms: 0.15,
  e2e_mean_ms: 0.05,
  cached_share: 0.02,
};

/** One prediction against what was measured. */
export interface JudgedMetric {
  error: number;
  /** Whether it has a bound at all. */
  isJudged: boolean;
  isInside: boolean;
  isClose: boolean;
  /** What is wrong with it; empty where it holds. */
  verdict: string;
}

/** Predictions of runs, and how many hold. */
export class JudgedRuns {
  readonly #counts = { judged: 0, inside: 0, close: 0, refused: 0 };
  readonly #say: (line: string) => void;
  #isBegun = false;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  judge({ high, low, metric, predicted }: WhatIfPrediction, measured: number): JudgedMetric {
    const error = metric === 'cached_share' ? predicted - measured : predicted / measured - 1;
    const bound = BOUNDS[metric];
    const isInside = measured >= low && measured <= high;
    const isClose = bound === undefined || Math.abs(error) <= bound;
    if (bound !== undefined) {
      this.#counts.judged++;
      if (isInside) this.#counts.inside++;
      if (isClose) this.#counts.close++;
    }
    const verdict = [isInside ? '' : 'outside', isClose ? '' : 'too far'].filter((word) => word !== '').join(', ');
    return { error, isJudged: bound !== undefined, isInside, isClose, verdict };
  }

  /** A line with the metrics that have bounds: predicted, measured, error. */
  add(name: string, { metrics, refused }: WhatIfAlternative, measured: MetricRow): void {
    const bounded = metrics.filter(({ metric }) => BOUNDS[metric] !== undefined);
    if (!this.#isBegun) {
      this.#say(`\n| run | ${bounded.map(({ metric }) => WHAT_IF_TITLES[metric]).join(' | ')} |`);
      this.#say(`|---${'|---'.repeat(bounded.length)}|`);
      this.#isBegun = true;
    }
    if (refused !== null) {
      this.#counts.refused++;
      const shown = bounded.map(({ metric }) => metricText(metric, measured[metric])).join(', ');
      this.#say(`| ${name} | refused: ${refused} (measured ${shown}) |`);
      return;
    }
    const cells = bounded.map((prediction) => {
      const { metric, predicted } = prediction;
      const { error, verdict } = this.judge(prediction, measured[metric]);
      const text = `${metricText(metric, predicted)} / ${metricText(metric, measured[metric])} ${errorText(error)}`;
      return verdict === '' ? text : `${text} **${verdict}**`;
    });
    this.#say(`| ${name} | ${cells.join(' | ')} |`);
  }

  /**
   * @param leastInside the share that has to be within its interval
   * @param leastClose and within the bounds
   * @returns whether enough hold
   */
  report(leastInside = 1, leastClose = 1): boolean {
    const { close, inside, judged, refused } = this.#counts;
    const open = refused === 0 ? '' : `; nothing claimed about ${refused} runs`;
    this.#say(`\n${inside} of ${judged} within their interval, ${close} within the bounds${open}`);
    return inside >= leastInside * judged && close >= leastClose * judged;
  }
}

export function metricText(metric: WhatIfMetric, value: number): string {
  return metric === 'cached_share' ? (100 * value).toFixed(1) : value.toFixed(value < 1000 ? 1 : 0);
}

export function errorText(error: number): string {
  return `${error > 0 ? '+' : ''}${(100 * error).toFixed(1)}`;
}

export function baselineText({ baseline }: WhatIfDocument): string {
  const errors = baseline.metrics.map(
    ({ error, metric }) => `${WHAT_IF_TITLES[metric].replace(/,.*/, '')} ${(100 * error).toFixed(1)}`,
  );
  return `simulated as recorded, errors in %: ${errors.join(', ')}; steps ±${(100 * baseline.stepError).toFixed(1)} %`;
}
