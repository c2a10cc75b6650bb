import type { RequestErrors } from '../../observe/fit/fit-report.js';
import type { ObservedTrace } from '../../observe/fit/observed-trace.js';
import { replayTrace } from '../../observe/fit/replay-trace.js';
import type { LatencyModel } from '../../replica/latency/contract.js';

/** What step times that were not fitted make of the rows of a trace from `from` on; null when none of them has latencies. */
export function errorsBefore(trace: ObservedTrace, latency: LatencyModel, from: number): RequestErrors | null {
  const replayed = replayTrace(trace, latency);
  const { count, outputTokens } = trace.table;
  const sums = { ttft: [0, 0], itl: [0, 0], e2e: [0, 0] };
  let requests = 0;
  for (let row = Math.max(from, trace.warmUp); row < count; row++) {
    if (!(trace.ttftUs[row]! > 0 && replayed.e2eUs[row]! > 0)) continue;
    requests++;
    for (const [i, { e2eUs, ttftUs }] of [replayed, trace].entries()) {
      sums.ttft[i]! += ttftUs[row]!;
      sums.e2e[i]! += e2eUs[row]!;
      if (outputTokens[row]! > 1) sums.itl[i]! += (e2eUs[row]! - ttftUs[row]!) / (outputTokens[row]! - 1);
    }
  }
  if (requests === 0) return null;
  const error = ([simulated, seen]: number[]) => simulated! / seen! - 1;
  return { requests, ttft: error(sums.ttft), itl: error(sums.itl), e2e: error(sums.e2e) };
}
