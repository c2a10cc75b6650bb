import { type LatencyRange, latencyRange } from '../../replica/latency/latency-range.js';
import type { LatencyInterval } from '../../simulator/result-document.js';
import { simulate } from '../../simulator/simulate.js';
import type { ResolvedCluster, SimulationFlags } from '../config/resolve-cluster.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { PreparedSimulation } from './simulate-command.js';

/** What `--interval` simulates; null without the flag. */
export function intervalRange(flags: FlagValues<SimulationFlags>, cluster: ResolvedCluster): LatencyRange | null {
  if (!flags.values.interval) return null;
  const { replica } = cluster.config;
  const range = latencyRange(replica, cluster.latency);
  if (range !== null) return range;
  const which = replica.latencyProfile === undefined ? `--latency-model ${replica.latencyModel}` : 'the profile';
  throw conflictingFlags(
    '--interval',
    `${which} states no uncertainty`,
    'leave it out, or use --latency-model physics',
  );
}

/** The figures of a run at both ends of what is known of its step times. */
export async function simulateInterval(
  { cluster, again }: Pick<PreparedSimulation, 'cluster' | 'again'>,
  { quick, slow, why }: LatencyRange,
): Promise<LatencyInterval> {
  // Nothing is recorded of these runs.
  const config = { ...cluster.config, traceLevel: 'none' as const, summarizeTrace: false };
  const low = simulate(config, await again(), quick).document.cluster;
  const high = simulate(config, await again(), slow).document.cluster;
  const between = (key: 'ttft_mean_ms' | 'ttft_p99_ms' | 'itl_mean_ms' | 'e2e_mean_ms' | 'tokens_per_sec') =>
    [low[key], high[key]] as [number, number];
  return {
    why,
    ttft_mean_ms: between('ttft_mean_ms'),
    ttft_p99_ms: between('ttft_p99_ms'),
    itl_mean_ms: between('itl_mean_ms'),
    e2e_mean_ms: between('e2e_mean_ms'),
    tokens_per_sec: between('tokens_per_sec'),
  };
}
