import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { recordedArrivalUs, recordedLines } from '../../gateway/recording/recorded-lines.js';

/** More are not simulated: the latest of them. */
export const MOST_RECORDED = 100_000;

/** Requests of an endpoint that a gateway recorded. */
export interface RecordedPart {
  readonly path: string;
  readonly endpoint: string;
  readonly sinceUs: number;
  /** Those that arrived before; absent: all up to now. */
  readonly untilUs?: number;
}

/** What `copyRecorded` has copied. */
export interface CopiedPart {
  readonly requests: number;
  /** So many of the oldest were left out. */
  readonly dropped: number;
  /** When the last one arrived; -Infinity without one. */
  readonly latestUs: number;
}

/** Copies the latest `MOST_RECORDED` of them to a file. */
export async function copyRecorded(
  { endpoint, path, sinceUs, untilUs }: RecordedPart,
  file: string,
): Promise<CopiedPart> {
  let count = 0;
  for await (const _ of recordedLines(path, endpoint, sinceUs, untilUs)) count++;
  const dropped = Math.max(0, count - MOST_RECORDED);
  const out = createWriteStream(file, { mode: 0o600 });
  let number = 0;
  let latestUs = Number.NEGATIVE_INFINITY;
  for await (const line of recordedLines(path, endpoint, sinceUs, untilUs)) {
    number++;
    if (number > count) break;
    latestUs = Math.max(latestUs, recordedArrivalUs(line));
    if (number > dropped && !out.write(`${line}\n`)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  return { requests: count - dropped, dropped, latestUs };
}
