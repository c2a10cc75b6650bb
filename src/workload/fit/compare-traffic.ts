import { mean } from '../../kernel/percentile.js';
import { generateSpecWorkload } from '../generate/generate-spec-workload.js';
import type { WorkloadFit } from './fit-workload.js';
import {
  DEFAULT_BLOCK_TOKENS,
  STATISTIC_NAMES,
  type StatisticName,
  type TrafficStatistics,
  trafficStatistics,
} from './traffic-statistics.js';

/** A statistic of the recorded and of the regenerated traffic. */
export interface ComparedStatistic {
  name: StatisticName;
  recorded: number;
  regenerated: number;
  /** Of the regenerated one, as a share of the recorded one. */
  difference: number;
  /** The difference is at most TOLERANCE either way. */
  within: boolean;
  /** The mean and the standard deviation of the difference over all seeds tried. */
  mean: number;
  deviation: number;
}

export interface TrafficComparison {
  /** The seed whose traffic is compared: of all seeds tried, the nearest to the recorded traffic. */
  seed: number;
  seeds: number[];
  /** Number of its requests. */
  requests: number;
  statistics: ComparedStatistic[];
}

export const TOLERANCE = 0.05;
const FIRST_SEED = 42;
/**
 * The traffic of a seed is a sample, like the recorded traffic: tails in particular differ between seeds, the more so
 * the fewer requests there are. This many requests are generated in total, with this many seeds.
 */
const ALL_REQUESTS = 200_000;
const LEAST_SEEDS = 4;
const MOST_SEEDS = 64;

/** Generates what the specification describes and compares it with the trace. Without a seed, several are tried. */
export function compareTraffic({ durationUs, recorded, spec }: WorkloadFit, seed: number | null): TrafficComparison {
  const blockTokens = recorded.blocks?.blockTokens ?? DEFAULT_BLOCK_TOKENS;
  const seeds = seed === null ? seedsFor(recorded.count) : [seed];
  const wanted = trafficStatistics(recorded, durationUs, blockTokens);
  const tries = seeds.map((tried) => {
    const { table } = generateSpecWorkload(spec, { seed: tried });
    return { seed: tried, requests: table.count, found: trafficStatistics(table, durationUs, blockTokens) };
  });
  const nearest = tries.reduce((best, one) => (worst(wanted, one.found) < worst(wanted, best.found) ? one : best));
  const statistics = STATISTIC_NAMES.map((name): ComparedStatistic => {
    const difference = differenceOf(wanted[name], nearest.found[name]);
    const all = tries.map(({ found }) => differenceOf(wanted[name], found[name]));
    const center = mean(all);
    return {
      name,
      recorded: wanted[name],
      regenerated: nearest.found[name],
      difference,
      within: Math.abs(difference) <= TOLERANCE,
      mean: center,
      deviation: Math.sqrt(mean(all.map((one) => (one - center) ** 2))),
    };
  });
  return { seed: nearest.seed, seeds, requests: nearest.requests, statistics };
}

function seedsFor(requests: number): number[] {
  const length = Math.min(MOST_SEEDS, Math.max(LEAST_SEEDS, Math.ceil(ALL_REQUESTS / requests)));
  return Array.from({ length }, (_, i) => FIRST_SEED + i);
}

function worst(wanted: TrafficStatistics, found: TrafficStatistics): number {
  return Math.max(...STATISTIC_NAMES.map((name) => Math.abs(differenceOf(wanted[name], found[name]))));
}

function differenceOf(recorded: number, regenerated: number): number {
  if (recorded === regenerated) return 0;
  return recorded === 0 ? Number.POSITIVE_INFINITY : regenerated / recorded - 1;
}
