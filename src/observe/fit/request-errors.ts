import type { RequestCosts, StepCosts } from '../../replica/latency/profile.js';
import { profileLatency } from '../../replica/latency/profile-latency.js';
import type { RequestErrors } from './fit-report.js';
import type { ObservedTrace } from './observed-trace.js';
import { replayTrace } from './replay-trace.js';

/** What a profile makes of the rows [from, to) of a trace, sent after all rows before them. Null when none has latencies. */
export function requestErrors(
  costs: { step: StepCosts; request: RequestCosts },
  trace: ObservedTrace,
  from: number,
  to: number,
): RequestErrors | null {
  const replayed = replayTrace(trace, profileLatency(costs), to);
  const { table } = trace;
  const sums = { ttft: [0, 0], itl: [0, 0], e2e: [0, 0] };
  let requests = 0;
  for (let row = Math.max(from, trace.warmUp); row < to; row++) {
    if (!(trace.ttftUs[row]! > 0 && replayed.e2eUs[row]! > 0)) continue;
    requests++;
    for (const [i, side] of [replayed, trace].entries()) {
      const ttft = side.ttftUs[row]!;
      const e2e = side.e2eUs[row]!;
      sums.ttft[i]! += ttft;
      sums.e2e[i]! += e2e;
      if (table.outputTokens[row]! > 1) sums.itl[i]! += (e2e - ttft) / (table.outputTokens[row]! - 1);
    }
  }
  const error = ([simulated, seen]: number[]) => (seen === 0 ? 0 : simulated! / seen! - 1);
  if (requests === 0) return null;
  return { requests, ttft: error(sums.ttft), itl: error(sums.itl), e2e: error(sums.e2e) };
}
