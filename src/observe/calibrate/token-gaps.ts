import type { Pair } from './pair-requests.js';

/** When the chunks of each response arrived, by request number: microseconds, in order. */
export type RecordedChunks = ReadonlyMap<number, readonly number[]>;

export interface ComparedGaps {
  /** By pair; NaN for a response of one token, or where a side has no gap. */
  real: Float64Array;
  sim: Float64Array;
  /** Responses of several chunks without a valid gap: their clock went back. */
  dropped: number;
}

/**
 * The mean gap between tokens on both sides. The measured one comes from the times of single chunks where there are
 * any, else from the first and the last token.
 */
export function tokenGaps(pairs: readonly Pair[], chunkTimes: RecordedChunks | null): ComparedGaps {
  let dropped = 0;
  const real = Float64Array.from(pairs, ({ measured }) => {
    if (chunkTimes === null) return meanGap(measured);
    const times = chunkTimes.get(measured.id) ?? [];
    const gap = meanForwardGap(times);
    if (times.length > 1 && Number.isNaN(gap)) dropped++;
    return gap;
  });
  const sim = Float64Array.from(pairs, ({ predicted }) => meanGap({ ...predicted, streamed: true }));
  return { real, sim, dropped };
}

function meanGap(request: { ttftUs: number; e2eUs: number; outputTokens: number; streamed: boolean }): number {
  const { e2eUs, outputTokens, streamed, ttftUs } = request;
  return streamed && outputTokens > 1 ? (e2eUs - ttftUs) / (outputTokens - 1) : Number.NaN;
}

function meanForwardGap(times: readonly number[]): number {
  let sum = 0;
  let gaps = 0;
  for (let i = 1; i < times.length; i++) {
    const gap = times[i]! - times[i - 1]!;
    if (gap < 0) continue;
    sum += gap;
    gaps++;
  }
  return gaps === 0 ? Number.NaN : sum / gaps;
}
