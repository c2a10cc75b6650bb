import type { CalibrationDocument } from './calibration.js';
import { type FailureComparison, failureNote } from './compare/compare-failures.js';
import { LEAST_TO_JUDGE, type MetricComparison } from './compare/compare-metric.js';
import type { PairedRequests } from './pair-requests.js';
import type { ComparedGaps } from './token-gaps.js';

/** Sides that differ by this much may be in different units. */
const OTHER_UNIT = 300;
/** A mean and a median whose errors differ by more hide a different distribution. */
const OTHER_SHAPE = 0.1;
/** With fewer requests the two differ by chance. */
const LEAST_FOR_SHAPE = 20;

/** What notes follow from besides the pairs and the metrics. */
interface NoteFacts {
  failures: FailureComparison;
  gaps: ComparedGaps;
  hasChunkTimes: boolean;
  /** The cap of the trace's client, where it is known. */
  maxInFlight?: number;
}

/** What a reader has to know before believing the numbers, a sentence each. */
export function calibrationNotes(
  { pairs, prefixMismatches, tokenMismatches, unmatched }: PairedRequests,
  metrics: CalibrationDocument['metrics'],
  { failures, gaps, hasChunkTimes, maxInFlight }: NoteFacts,
): string[] {
  const notes: string[] = [];
  const partial = pairs.filter(({ measured }) => !measured.completed).length;
  const unstreamed = pairs.filter(({ measured }) => !measured.streamed).length;
  if (pairs.length < LEAST_TO_JUDGE) {
    notes.push(`${requests(pairs.length)} on both sides: too few to judge by, ${LEAST_TO_JUDGE} are needed at least`);
  }
  if (unmatched.notInResults > 0) notes.push(`left out, not in the results: ${requests(unmatched.notInResults)}`);
  if (unmatched.notInTrace > 0) notes.push(`left out, not in the trace: ${requests(unmatched.notInTrace)}`);
  if (unmatched.withoutResponse > 0) notes.push(`left out, without a response: ${requests(unmatched.withoutResponse)}`);
  if (unmatched.notPredicted > 0) {
    notes.push(`left out, not completed in the simulation: ${requests(unmatched.notPredicted)}`);
  }
  const failed = failureNote(failures);
  if (failed !== null) notes.push(failed);
  if (maxInFlight !== undefined && !pairs.some(({ predicted }) => predicted.isCapped)) {
    notes.push(
      `the client of the trace had at most ${maxInFlight} requests in flight, that of the prediction any number: replay it with --max-in-flight ${maxInFlight}`,
    );
  }
  notes.push(...shapeNotes(metrics));
  if (partial > 0) {
    notes.push(
      `partial responses, compared by when they were cut off: ${requests(partial)}; --trace-answered leaves them out`,
    );
  }
  if (unstreamed > 0) {
    notes.push(`not streamed, so that the first token is as late as the last: ${requests(unstreamed)}`);
  }
  if (tokenMismatches > prefixMismatches) {
    notes.push(`other lengths in the results than in the trace: ${requests(tokenMismatches - prefixMismatches)}`);
  }
  if (prefixMismatches > 0) {
    const why =
      "the trace's count leaves out a shared prefix or is the server's own, the simulated prompt is the trace's";
    notes.push(`token mismatches in the count alone: ${requests(prefixMismatches)}; ${why}`);
  }
  if (metrics.itl !== undefined && !hasChunkTimes) {
    notes.push('gaps between tokens follow from the first and the last token: --itl-data gives those of single pieces');
  }
  if (gaps.dropped > 0) notes.push(`without a valid gap, because the clock went back: ${requests(gaps.dropped)}`);
  const times = Math.min(timesApart(metrics.ttft!), timesApart(metrics.e2e!));
  if (times > OTHER_UNIT) {
    notes.push(`one side is about ${Math.round(times)} times the other: check that both are in microseconds`);
  }
  return notes;
}

/** Where the error of the mean says something else than that of the median. */
function shapeNotes(metrics: CalibrationDocument['metrics']): string[] {
  const names = { ttft: 'first token', e2e: 'whole request', itl: 'between tokens' };
  return Object.entries(metrics).flatMap(
    ([
      name,
      {
        against_repeat: { error },
        count,
      },
    ]) => {
      const { mean, median } = error;
      if (count < LEAST_FOR_SHAPE || mean === null || median === null || Math.abs(mean - median) <= OTHER_SHAPE)
        return [];
      const signed = (share: number) => `${share < 0 ? '-' : '+'}${Math.abs(share * 100).toFixed(1)} %`;
      return [
        `${names[name as keyof typeof names]}: the mean is ${signed(mean)} off, the median ${signed(median)}: judge by both`,
      ];
    },
  );
}

/** How many times the one mean is the other; 0 when one of them is nothing. */
function timesApart({ workload_level: { real_mean: real, sim_mean: sim } }: MetricComparison): number {
  return real > 0 && sim > 0 ? Math.max(real / sim, sim / real) : 0;
}

function requests(count: number): string {
  return count === 1 ? '1 request' : `${count} requests`;
}
