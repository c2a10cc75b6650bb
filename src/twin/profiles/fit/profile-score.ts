import type { ObservedTrace } from '../../../observe/fit/traces/observed-trace.js';
import { replayTrace } from '../../../observe/fit/traces/replay-trace.js';
import type { LatencyProfile } from '../../../replica/latency/profile.js';
import { profileLatency } from '../../../replica/latency/profile-latency.js';

/** How far simulated latencies of requests are from the true ones: summed absolute errors over summed latencies. */
export interface ProfileScore {
  readonly requests: number;
  readonly ttft: number;
  readonly itl: number;
  readonly e2e: number;
  /** The mean of the three: less is better. */
  readonly mean: number;
}

/** Of a request that the simulated engine never served. */
const UNSERVED = 1;

/** A trace and the first row that counts. */
export interface ScoredTrace {
  readonly trace: ObservedTrace;
  readonly from: number;
}

/** Simulates the traces with a profile and compares the rows that count. Null when no row can be compared. */
export function scoreProfile(
  profile: Pick<LatencyProfile, 'step' | 'request'>,
  parts: readonly ScoredTrace[],
): ProfileScore | null {
  const latency = profileLatency(profile);
  const sums = { ttft: new ErrorSum(), itl: new ErrorSum(), e2e: new ErrorSum() };
  for (const { from, trace } of parts) {
    const simulated = replayTrace(trace, latency);
    const { count, outputTokens } = trace.table;
    for (let row = Math.max(from, trace.warmUp); row < count; row++) {
      const ttftUs = trace.ttftUs[row]!;
      const e2eUs = trace.e2eUs[row]!;
      if (!(ttftUs > 0 && e2eUs >= ttftUs)) continue;
      sums.ttft.add(simulated.ttftUs[row]!, ttftUs);
      sums.e2e.add(simulated.e2eUs[row]!, e2eUs);
      const gaps = outputTokens[row]! - 1;
      if (gaps > 0) sums.itl.add((simulated.e2eUs[row]! - simulated.ttftUs[row]!) / gaps, (e2eUs - ttftUs) / gaps);
    }
  }
  const { ttft, itl, e2e } = sums;
  if (ttft.count === 0) return null;
  const errors = { ttft: ttft.error, itl: itl.error, e2e: e2e.error };
  return { requests: ttft.count, ...errors, mean: (errors.ttft + errors.itl + errors.e2e) / 3 };
}

class ErrorSum {
  count = 0;
  #off = 0;
  #all = 0;

  add(simulated: number, seen: number): void {
    this.count++;
    this.#all += seen;
    this.#off += simulated >= 0 ? Math.abs(simulated - seen) : UNSERVED * seen;
  }

  get error(): number {
    return this.#all === 0 ? 0 : this.#off / this.#all;
  }
}
