import { percentile } from '../../../src/kernel/percentile.js';
import { leastSquares } from '../../../src/observe/fit/solve/least-squares.js';
import { type ReplayedTrace, replayTrace } from '../../../src/observe/fit/traces/replay-trace.js';
import type { PhysicsCoefficients } from '../../../src/replica/latency/gpu-coefficients.js';
import { modelWork } from '../../../src/replica/latency/physics/model-work.js';
import { physicsCosts } from '../../../src/replica/latency/physics/physics-costs.js';
import { profileLatency } from '../../../src/replica/latency/profile-latency.js';
import type { AggregateRun, MeasuredRun } from '../measured-run.js';

export type FittedRun = (MeasuredRun | AggregateRun) & {
  /** How many runs of its kind there are: each counts for one of them. */
  alike: number;
};

/** How far coefficients may be from where they start, as a share: what is not named stays. */
export type Doubts = Partial<Record<keyof PhysicsCoefficients, number>>;

/** Relative errors that a good prediction has. */
const USUAL = { e2e: 0.015, itl: 0.015, ttft: 0.03, ttftP50: 0.03, ttftP99: 0.12, e2eP90: 0.03, e2eP99: 0.05 };
/** No run counts for more than this many usual errors: near saturation small causes have large effects. */
const MOST = 60;
const MOST_WIDTH = 0.3;
const LEAST_WIDTH = 0.03;

type Figures = Partial<Record<keyof typeof USUAL, number>>;

/** A run as a latency model with these coefficients has it. */
export function replayWith(run: MeasuredRun | AggregateRun, coefficients: PhysicsCoefficients): ReplayedTrace {
  const parallelism = { tp: run.tp, dp: 1, moeCommBackend: 'allgather_reducescatter' };
  const costs = physicsCosts(modelWork(run.model, run.gpu, parallelism), coefficients);
  const nothing = new Float64Array(run.table.count);
  return replayTrace({ ttftUs: nothing, e2eUs: nothing, ...run }, profileLatency(costs));
}

/** The coefficients with which the runs come out as measured, priors included. `from` is where the search begins. */
export function fitCoefficients(
  runs: readonly FittedRun[],
  start: PhysicsCoefficients,
  doubts: Doubts,
  from: PhysicsCoefficients = start,
  progress: (round: number, loss: number) => void = () => {},
): PhysicsCoefficients {
  const names = Object.keys(doubts) as (keyof PhysicsCoefficients)[];
  const doubt = (i: number) => doubts[names[i]!]!;
  const at = (logFactors: Float64Array): PhysicsCoefficients => ({
    ...start,
    ...Object.fromEntries(names.map((name, i) => [name, start[name] * Math.exp(logFactors[i]!)])),
  });
  const residuals = (logFactors: Float64Array) => {
    const coefficients = at(logFactors);
    const errors = runs.flatMap((run) => {
      const share = Math.sqrt(run.alike);
      return runErrors(run, replayWith(run, coefficients)).map((error) => clamped(error) / share);
    });
    return Float64Array.from(
      [...errors, ...logFactors].map((value, i) => {
        const prior = i - errors.length;
        return prior < 0 ? value : value / doubt(prior);
      }),
    );
  };
  const widths = names.map((_, i) => Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, MOST_WIDTH * doubt(i))));
  const begin = Float64Array.from(names, (name) => Math.log(from[name] / start[name]));
  return at(leastSquares(begin, widths, residuals, progress).at);
}

function clamped(error: number): number {
  return Number.isNaN(error) ? MOST : Math.max(-MOST, Math.min(MOST, error));
}

/** Errors of both halves of a run, or of its aggregates, in usual errors. */
function runErrors(run: FittedRun, simulated: ReplayedTrace): number[] {
  const { count } = run.table;
  if ('measuredMs' in run) {
    const { e2e_mean, e2e_p90, e2e_p99, ttft_mean, ttft_p99 } = run.measuredMs;
    const measured = { e2e: e2e_mean, ttft: ttft_mean, ttftP99: ttft_p99, e2eP90: e2e_p90, e2eP99: e2e_p99 };
    const { itl: _, ttftP50: __, ...ours } = figures(run, simulated, run.warmUp, count);
    return compared(ours, Object.fromEntries(Object.entries(measured).map(([name, ms]) => [name, 1000 * ms])));
  }
  const half = count >> 1;
  return [
    [run.warmUp, half],
    [half, count],
  ].flatMap(([first, last]) => {
    const { e2eP90: _, e2eP99: __, ...ours } = figures(run, simulated, first!, last!);
    return compared(ours, figures(run, run, first!, last!));
  });
}

function compared(ours: Figures, measured: Figures): number[] {
  const names = Object.keys(ours) as (keyof typeof USUAL)[];
  return names.map((name) => Math.log(ours[name]! / measured[name]!) / USUAL[name]);
}

type Latencies = Pick<ReplayedTrace, 'ttftUs' | 'e2eUs'>;

function figures(run: FittedRun, side: Latencies, first: number, last: number): Required<Figures> {
  const rows: number[] = [];
  const known = 'ttftUs' in run ? run.ttftUs : null;
  for (let row = first; row < last; row++) if (known === null || known[row]! > 0) rows.push(row);
  const mean = (value: (row: number) => number) => rows.reduce((sum, row) => sum + value(row), 0) / rows.length;
  const { ttftUs, e2eUs } = side;
  const { outputTokens } = run.table;
  const ttfts = Float64Array.from(rows, (row) => ttftUs[row]!).sort();
  const e2es = Float64Array.from(rows, (row) => e2eUs[row]!).sort();
  return {
    e2e: mean((row) => e2eUs[row]!),
    itl: mean((row) => (e2eUs[row]! - ttftUs[row]!) / Math.max(1, outputTokens[row]! - 1)),
    ttft: mean((row) => ttftUs[row]!),
    ttftP50: percentile(ttfts, 50),
    ttftP99: percentile(ttfts, 99),
    e2eP90: percentile(e2es, 90),
    e2eP99: percentile(e2es, 99),
  };
}
