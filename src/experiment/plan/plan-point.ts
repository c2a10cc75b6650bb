import { studentT975 } from '../comparison/paired-difference.js';
import type { LatencyMeasure } from '../metrics.js';
import { type DetectorVotes, detectorVotes } from '../runs/detector-votes.js';
import type { SteadyState } from '../runs/steady-state.js';
import { isSameMeasure, type Slo } from './slo.js';
import { stationarity } from './stationarity.js';

/** A measure over all seeds, in ms; null where requests that are never served reach into it. */
export interface MeasuredLatency extends LatencyMeasure {
  ms: number | null;
  /** The 95 % interval: from seeds, or from parts of the time with one seed. */
  low: number | null;
  high: number | null;
}

/** What a fleet does under a load. */
export interface PlanPoint {
  replicas: number;
  /** How many times the base rate. */
  factor: number;
  /** Requests per second. */
  rate: number;
  kept: boolean;
  /** Why not: an SLO is missed, the backlog grows, or requests are lost. */
  why: 'slo' | 'backlog' | 'lost' | null;
  latencies: MeasuredLatency[];
  /** Requests in the cluster: how many times their mean they grew by. */
  growth: number;
  /** Requests per second that were finished. */
  finishedPerS: number;
  /** Shares of the requests. */
  lost: number;
  unservable: number;
  lengthCapped: number;
  seeds: number;
  /** Requests of each run, and how its time was used. */
  requests: number;
  warmUpS: number;
  measuredS: number;
  /** Tokens of a mean and of a 99th percentile prompt. */
  promptTokens: { mean: number; p99: number };
  /** What detectors said, where some were chosen. */
  detectors?: DetectorVotes;
}

/** A mean says nothing of requests that were not served: above this share of them it is not kept. */
const MOST_LOST = 0.01;

/** What runs of one fleet and load with different seeds say together. */
export function planPoint(
  at: { replicas: number; factor: number; rate: number; requests: number },
  runs: readonly SteadyState[],
  measures: readonly LatencyMeasure[],
  slos: readonly Slo[],
  isRecorded = false,
): PlanPoint {
  const latencies = measures.map((measure, i) => measured(measure, runs, i));
  const share = (count: (run: SteadyState) => number, of: (run: SteadyState) => number) =>
    meanOf(runs.map((run) => count(run) / Math.max(1, of(run))));
  const lost = share(
    (run) => run.lost,
    (run) => run.requests,
  );
  const { growth, isGrowing } = stationarity(runs, isRecorded);
  const misses = slos.some((slo) => {
    const { ms } = latencies.find((one) => isSameMeasure(one, slo))!;
    return ms === null || ms > slo.limitMs;
  });
  const why = lost > MOST_LOST ? 'lost' : isGrowing ? 'backlog' : misses ? 'slo' : null;
  return {
    ...at,
    kept: why === null,
    why,
    latencies,
    growth: Number(growth.toFixed(3)),
    finishedPerS: significant(meanOf(runs.map(({ finishedPerS }) => finishedPerS))),
    lost,
    unservable: share(
      (run) => run.unservable,
      () => at.requests,
    ),
    lengthCapped: share(
      (run) => run.lengthCapped,
      () => at.requests,
    ),
    seeds: runs.length,
    warmUpS: significant(meanOf(runs.map(({ warmUpS }) => warmUpS))),
    measuredS: significant(meanOf(runs.map(({ measuredS }) => measuredS))),
    promptTokens: {
      mean: Math.round(meanOf(runs.map(({ promptTokens }) => promptTokens.mean))),
      p99: Math.round(meanOf(runs.map(({ promptTokens }) => promptTokens.p99))),
    },
    ...detectorVotes(runs.map(({ detectors }) => detectors)),
  };
}

function measured({ of, at }: LatencyMeasure, runs: readonly SteadyState[], i: number): MeasuredLatency {
  const values = runs.map(({ values }) => values[i]!);
  if (values.some((value) => value === null)) return { of, at, ms: null, low: null, high: null };
  const ms = meanOf(values as number[]);
  const sample = runs.length > 1 ? (values as number[]) : runs[0]!.parts[i]!.filter((value) => value !== null);
  if (sample.length < 2) return { of, at, ms: significant(ms), low: null, high: null };
  const center = meanOf(sample);
  const deviation = Math.sqrt(sample.reduce((sum, value) => sum + (value - center) ** 2, 0) / (sample.length - 1));
  const half = (studentT975(sample.length - 1) * deviation) / Math.sqrt(sample.length);
  return { of, at, ms: significant(ms), low: significant(Math.max(0, ms - half)), high: significant(ms + half) };
}

export function latencyOf(point: PlanPoint, measure: LatencyMeasure): MeasuredLatency {
  return point.latencies.find((one) => isSameMeasure(one, measure))!;
}

/** Five digits: more come from chance. */
function significant(value: number): number {
  return Number(value.toPrecision(5));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
