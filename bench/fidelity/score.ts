import { percentile } from '../../src/kernel/percentile.js';
import type { ObservedTrace } from '../../src/observe/fit/traces/observed-trace.js';
import type { AggregateRun } from './measured-run.js';

type Latencies = Pick<ObservedTrace, 'ttftUs' | 'e2eUs'>;

/** Simulated over measured, less 1, in per cent. */
export interface Score {
  e2e: number;
  itl: number;
  ttft: number;
  ttftP50: number;
  ttftP99: number;
  e2eP99: number;
}

export const METRICS = ['e2e', 'itl', 'ttft', 'ttftP50', 'ttftP99', 'e2eP99'] as const satisfies (keyof Score)[];

/** How a simulation of a run compares with it, from a row on. */
export function scoreOf(run: ObservedTrace, simulated: Latencies, from: number): Score {
  const rows: number[] = [];
  for (let row = Math.max(from, run.warmUp); row < run.table.count; row++) if (run.ttftUs[row]! > 0) rows.push(row);
  const answered = rows.filter((row) => run.table.outputTokens[row]! > 1);
  const gapOf =
    ({ e2eUs, ttftUs }: Latencies) =>
    (row: number) =>
      (e2eUs[row]! - ttftUs[row]!) / (run.table.outputTokens[row]! - 1);
  const compared = (value: (side: Latencies) => number) => 100 * (value(simulated) / value(run) - 1);
  const sorted = (values: (side: Latencies) => Float64Array) => (side: Latencies) =>
    Float64Array.from(rows, (row) => values(side)[row]!).sort();
  const ttfts = sorted(({ ttftUs }) => ttftUs);
  const e2es = sorted(({ e2eUs }) => e2eUs);
  return {
    e2e: compared(({ e2eUs }) => mean(rows, (row) => e2eUs[row]!)),
    itl: compared((side) => mean(answered, gapOf(side))),
    ttft: compared(({ ttftUs }) => mean(rows, (row) => ttftUs[row]!)),
    ttftP50: compared((side) => percentile(ttfts(side), 50)),
    ttftP99: compared((side) => percentile(ttfts(side), 99)),
    e2eP99: compared((side) => percentile(e2es(side), 99)),
  };
}

function mean(rows: readonly number[], value: (row: number) => number): number {
  return rows.reduce((sum, row) => sum + value(row), 0) / rows.length;
}

/** The same for a run of which only aggregates are known; NaN for what is not. */
export function aggregateScore({ measuredMs, warmUp }: AggregateRun, { ttftUs, e2eUs }: Latencies): Score {
  const off = (us: number, ms: number) => 100 * (us / 1000 / ms - 1);
  const all = (values: Float64Array) => values.slice(warmUp).sort();
  const meanOf = (values: Float64Array) => all(values).reduce((sum, us) => sum + us, 0) / (values.length - warmUp);
  return {
    e2e: off(meanOf(e2eUs), measuredMs.e2e_mean),
    itl: Number.NaN,
    ttft: off(meanOf(ttftUs), measuredMs.ttft_mean),
    ttftP50: Number.NaN,
    ttftP99: off(percentile(all(ttftUs), 99), measuredMs.ttft_p99),
    e2eP99: off(percentile(all(e2eUs), 99), measuredMs.e2e_p99),
  };
}

/** Median sizes of errors, metric by metric. */
export function medianScore(scores: readonly Score[]): Score {
  const medians = METRICS.map((metric) => {
    const sizes = Float64Array.from(scores, (score) => Math.abs(score[metric])).sort();
    return [metric, percentile(sizes, 50)];
  });
  return Object.fromEntries(medians);
}
