import { OBSERVED_OUTCOMES } from '../observed.js';
import type { Trace } from '../trace.js';

const OK = OBSERVED_OUTCOMES.indexOf('ok');

/** What whoever replays an observed trace should know about it. */
export function observedNotes({ header, observed }: Trace): string[] {
  const notes: string[] = [];
  if (header.partial !== undefined) notes.push(`the trace is partial: ${header.partial}`);
  if (header.late !== undefined) notes.push(`requests were sent late: ${header.late}`);
  if (observed?.sent === undefined) return notes;
  const failed = observed.outcome.filter((outcome) => outcome !== OK).length;
  if (failed > 0) {
    notes.push(
      `${failed} of ${observed.outcome.length} requests have no complete answer and are replayed as planned; --trace-answered leaves them out`,
    );
  }
  return notes;
}
