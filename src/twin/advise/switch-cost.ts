import { mean } from '../../kernel/percentile.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import { STATUS } from '../../replica/request-outcomes.js';
import type { ClusterConfig, PolicyChoice } from '../../simulator/cluster-config.js';
import { simulate } from '../../simulator/simulate.js';
import { recordedWorkload } from '../whatif/asked-runs.js';
import type { RecordedFleet } from '../whatif/recorded-fleet.js';

const WINDOWS = 10;
const RUNS = 3;
/** Caches count as warm from the window on in which TTFT is this close to that of a fleet that never had another policy. */
const WARM = 0.05;

/** Mean TTFT of the requests that arrived in one part of the time after a switch, in milliseconds. */
export interface SwitchWindow {
  /** Had the policy in force stayed. */
  present: number;
  /** After the switch, with the caches that the former policy left. */
  switched: number;
  /** Had the new policy decided from the start. */
  warm: number;
}

/** What a switch in the middle of the recording would have cost. */
export interface SwitchCost {
  windowS: number;
  /** After the switch, one after the other; those without requests are left out. */
  windows: SwitchWindow[];
  /** Seconds after the switch from which on caches are warm; null when they are not before the recording ends. */
  warmAfterS: number | null;
  /** TTFT that requests wait longer than with warm caches until then, on average, in milliseconds. */
  extraTtftMs: number;
  /** TTFT of the worst window relative to staying, as a share: above 0 it is worse for a while. */
  worst: number;
}

/**
 * Simulates the switch in the middle of recorded traffic: caches hold what the former policy placed there, and the router's books go on.
 * @param config with the policy in force
 */
export function switchCost(
  fleet: RecordedFleet,
  config: ClusterConfig,
  latency: LatencyModel,
  next: PolicyChoice,
): SwitchCost {
  const { arrivalUs, count } = fleet.trace.table;
  const atUs = (arrivalUs[fleet.warmUp]! + arrivalUs[count - 1]!) / 2;
  const windowUs = Math.max(1, (arrivalUs[count - 1]! - atUs) / WINDOWS);
  const of = (change: Partial<ClusterConfig>) => windowMeans(fleet, { ...config, ...change }, latency, atUs, windowUs);
  const present = of({});
  const switched = of({ routingSwitch: { atUs, routing: next } });
  const warm = of({ routing: next });
  const windows = present
    .map((one, i): SwitchWindow => ({ present: one, switched: switched[i]!, warm: warm[i]! }))
    .filter((window) => Object.values(window).every((value) => !Number.isNaN(value)));
  const lastCold = windows.findLastIndex((one) => one.switched > one.warm * (1 + WARM));
  const cold = windows.slice(0, lastCold + 1);
  return {
    windowS: windowUs / 1e6,
    windows,
    warmAfterS: lastCold + 1 === windows.length ? null : ((lastCold + 1) * windowUs) / 1e6,
    extraTtftMs: cold.length === 0 ? 0 : mean(cold.map((one) => one.switched - one.warm)),
    worst: windows.length === 0 ? 0 : Math.max(...windows.map((one) => one.switched / one.present - 1)),
  };
}

/** Mean TTFT by window after a time, over several runs; NaN for a window without requests. */
function windowMeans(
  fleet: RecordedFleet,
  config: ClusterConfig,
  latency: LatencyModel,
  fromUs: number,
  windowUs: number,
): number[] {
  const times: number[][] = Array.from({ length: WINDOWS }, () => []);
  for (let run = 0; run < RUNS; run++) {
    const { restore, workload } = recordedWorkload(fleet);
    const { outcomes, table } = simulate({ ...config, seed: config.seed + run }, workload, latency);
    for (let row = 0; row < table.count; row++) {
      const status = outcomes.status[row]!;
      if (status !== STATUS.completed && status !== STATUS.length_capped) continue;
      const window = Math.floor((table.arrivalUs[row]! - fromUs) / windowUs);
      times[Math.min(window, WINDOWS - 1)]?.push(outcomes.ttftUs[row]! / 1000);
    }
    restore();
  }
  return times.map((values) => (values.length === 0 ? Number.NaN : mean(values)));
}
