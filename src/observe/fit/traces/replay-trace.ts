import { EventHeap } from '../../../kernel/events/event-heap.js';
import type { LatencyModel } from '../../../replica/latency/contract.js';
import { Replica } from '../../../replica/replica.js';
import { RequestOutcomes } from '../../../replica/request-outcomes.js';
import { PromptKeys } from '../../../workload/prompt-keys.js';
import type { ObservedTrace } from './observed-trace.js';

/** The simulated latencies of a trace, by row. NaN where there are none. */
export interface ReplayedTrace {
  ttftUs: Float64Array;
  e2eUs: Float64Array;
  cachedTokens: Int32Array;
  preemptions: number;
}

/**
 * Sends the first `rows` requests of a trace at their recorded times through one engine with these step times. A client
 * with a limit on requests in progress sends later than recorded if necessary; latencies count from then on.
 */
export function replayTrace(
  trace: ObservedTrace,
  latency: LatencyModel,
  rows: number = trace.table.count,
): ReplayedTrace {
  const { table, engine, maxInFlight } = trace;
  const outcomes = new RequestOutcomes(table.count);
  const cachedTokens = new Int32Array(table.count);
  const keys = new PromptKeys(table, engine.blockSize);
  /** When requests that are over, or in their last step, end. */
  const ends = new EventHeap();
  const events = { firstToken: () => {}, left: (row: number, _: boolean, atUs: number) => ends.push(atUs, row) };
  const requests = { table, outcomes, keys, cachedTokens, urgency: () => 0 };
  const replica = new Replica({ ...UNUSED, ...engine }, latency, requests, events, Number.POSITIVE_INFINITY);
  const heldUs = new Float64Array(rows);
  let inFlight = 0;
  let sentUs = 0;
  for (let row = 0; row < rows; row++) {
    sentUs = Math.max(sentUs, table.arrivalUs[row]!);
    replica.advance(sentUs);
    while (ends.size > 0 && (ends.nextUs <= sentUs || inFlight >= maxInFlight)) {
      sentUs = Math.max(sentUs, ends.nextUs);
      ends.pop();
      inFlight--;
    }
    while (inFlight >= maxInFlight) {
      replica.runNext();
      if (ends.size === 0) continue;
      sentUs = ends.nextUs;
      ends.pop();
      inFlight--;
    }
    heldUs[row] = sentUs - table.arrivalUs[row]!;
    replica.enqueue(row, sentUs);
    inFlight++;
  }
  replica.advance(Number.POSITIVE_INFINITY);
  const { ttftUs, e2eUs } = outcomes;
  for (let row = 0; row < rows; row++) {
    ttftUs[row]! -= heldUs[row]!;
    e2eUs[row]! -= heldUs[row]!;
  }
  return { ttftUs, e2eUs, cachedTokens, preemptions: replica.preemptions };
}

/** Parts of a replica's configuration that select step times: here these are given. */
const UNUSED = {
  model: '',
  hardware: '',
  tp: 1,
  dp: 1,
  moeCommBackend: '',
  latencyModel: '',
  alphaCoeffs: null,
  betaCoeffs: null,
  gpuMemoryUtilization: 1,
};
