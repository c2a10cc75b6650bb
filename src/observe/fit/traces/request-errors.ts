import type { LatencyModel } from '../../../replica/latency/contract.js';
import type { RequestErrors } from '../fit-report.js';
import type { ObservedTrace } from './observed-trace.js';
import { replayTrace } from './replay-trace.js';

/** What step times make of the rows of a trace from `from` on, sent after all rows before them. Null when none has latencies. */
export function replayErrors(latency: LatencyModel, trace: ObservedTrace, from: number): RequestErrors | null {
  const replayed = replayTrace(trace, latency);
  const { count, outputTokens } = trace.table;
  const sums = { ttft: [0, 0], itl: [0, 0], e2e: [0, 0] };
  let requests = 0;
  for (let row = Math.max(from, trace.warmUp); row < count; row++) {
    if (!(trace.ttftUs[row]! > 0 && replayed.e2eUs[row]! > 0)) continue;
    requests++;
    for (const [i, side] of [replayed, trace].entries()) {
      const ttft = side.ttftUs[row]!;
      const e2e = side.e2eUs[row]!;
      sums.ttft[i]! += ttft;
      sums.e2e[i]! += e2e;
      if (outputTokens[row]! > 1) sums.itl[i]! += (e2e - ttft) / (outputTokens[row]! - 1);
    }
  }
  const error = ([simulated, seen]: number[]) => (seen === 0 ? 0 : simulated! / seen! - 1);
  if (requests === 0) return null;
  return { requests, ttft: error(sums.ttft), itl: error(sums.itl), e2e: error(sums.e2e) };
}
