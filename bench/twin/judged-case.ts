import { percentile } from '../../src/kernel/percentile.js';
import type { MetricRow, WhatIfMetric } from '../../src/twin/whatif/recorded-metrics.js';
import type { WhatIfAlternative } from '../../src/twin/whatif/whatif-document.js';

/** What has to be within the interval for a case to hold. */
const JUDGED: readonly WhatIfMetric[] = ['ttft_mean_ms', 'ttft_p90_ms'];
const LEAST_HELD = 0.85;
const MOST_WIDTH = 0.2;

/** Cases, each a question about one recording, and whether what was measured then was within the intervals. */
export class JudgedCases {
  #cases = 0;
  #held = 0;
  readonly #widths: number[] = [];
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  add(name: string, { metrics, refused }: WhatIfAlternative, measured: MetricRow): void {
    const judged = metrics.filter(({ metric }) => JUDGED.includes(metric));
    const cells = judged.map(({ high, low, metric, predicted }) => {
      const isInside = measured[metric] >= low && measured[metric] <= high;
      this.#widths.push((high - low) / predicted);
      return {
        isInside,
        text: `${metric.slice(0, -3)} ${low.toFixed(1)}..${high.toFixed(1)} ${measured[metric].toFixed(1)}${isInside ? '' : ' OUTSIDE'}`,
      };
    });
    const holds = refused === null && cells.every(({ isInside }) => isInside);
    this.#cases++;
    if (holds) this.#held++;
    this.#say(
      `${name.padEnd(40)} ${cells.map(({ text }) => text).join('  ')}${refused === null ? '' : `  refused: ${refused}`}`,
    );
  }

  /** Whether enough hold, with intervals that say something. */
  report(): boolean {
    const width = percentile(Float64Array.from(this.#widths).sort(), 50);
    const holds = this.#held >= LEAST_HELD * this.#cases && width <= MOST_WIDTH;
    this.#say(
      `\n${this.#held} of ${this.#cases} cases hold; median width ${(100 * width).toFixed(1)} % of the value${holds ? '' : '  MISSED'}`,
    );
    return holds;
  }
}
