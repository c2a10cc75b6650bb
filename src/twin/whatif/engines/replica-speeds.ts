import { percentile } from '../../../kernel/percentile.js';
import type { ObservedTrace } from '../../../observe/fit/traces/observed-trace.js';
import { replayTrace } from '../../../observe/fit/traces/replay-trace.js';
import type { LatencyModel } from '../../../replica/latency/contract.js';
import { scaledLatency } from '../../../replica/latency/latency-range.js';
import type { ReplicaModelConfig } from '../../../replica/replica-model-config.js';
import { enginesOf, type RecordedFleet } from '../recorded-fleet.js';

/** Replicas whose steps differ by less are taken for alike: the load of each explains that much. */
const UNLIKE = 0.2;
/** With fewer responses of a replica its speed is not known. */
const LEAST_RESPONSES = 30;
/** Slower steps make larger batches, which are slower again. */
const ROUNDS = 3;
/** More of a replica would not change its speed. */
const MOST_REQUESTS = 1500;

/**
 * How many times as long as the profile says the steps of each replica take, in the order of the recording: replicas on other
 * GPUs, or on a slower host. A recording does not name their kind, but it shows the time between tokens of each.
 * @returns null where all are alike
 */
export function replicaSpeeds(
  fleet: RecordedFleet,
  replica: ReplicaModelConfig,
  latency: LatencyModel,
): number[] | null {
  const found = enginesOf(fleet, replica, MOST_REQUESTS).map((engine) => speedOf(engine, latency));
  const known = Float64Array.from(found.filter((speed) => !Number.isNaN(speed))).sort();
  if (known.length < 2 || known[known.length - 1]! < (1 + UNLIKE) * known[0]!) return null;
  const usual = percentile(known, 50);
  return found.map((speed) => (Number.isNaN(speed) ? usual : speed));
}

function speedOf(engine: ObservedTrace, latency: LatencyModel): number {
  let factor = 1;
  for (let round = 0; round < ROUNDS; round++) {
    const ratio = gapRatio(engine, scaledLatency(latency, factor));
    if (Number.isNaN(ratio)) return ratio;
    factor *= ratio;
  }
  return factor;
}

/** The time between tokens as measured, over that as simulated; NaN where too few responses show it. */
function gapRatio(engine: ObservedTrace, latency: LatencyModel): number {
  const { e2eUs, table, ttftUs } = engine;
  const run = replayTrace(engine, latency);
  let measured = 0;
  let simulated = 0;
  let responses = 0;
  for (let row = 0; row < table.count; row++) {
    if (!(table.outputTokens[row]! > 1 && e2eUs[row]! > ttftUs[row]! && run.e2eUs[row]! > run.ttftUs[row]!)) continue;
    measured += e2eUs[row]! - ttftUs[row]!;
    simulated += run.e2eUs[row]! - run.ttftUs[row]!;
    responses++;
  }
  return responses < LEAST_RESPONSES ? Number.NaN : measured / simulated;
}
