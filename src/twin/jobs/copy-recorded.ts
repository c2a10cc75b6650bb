import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { RecordedFiles, recordedArrivalUs } from '../../gateway/recording/recorded-files.js';

/** More are not simulated: the latest of them. */
export const MOST_RECORDED = 100_000;

/** Requests of an endpoint that a gateway recorded. */
export interface RecordedPart {
  readonly path: string;
  readonly endpoint: string;
  readonly sinceUs: number;
  /** What was recorded before belongs to another workspace that had the name; it is not read, whatever is asked. */
  readonly leastUs: number;
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
export async function copyRecorded(part: RecordedPart, file: string): Promise<CopiedPart> {
  const files = await RecordedFiles.open(part.path);
  try {
    return await copyLatest(files, part, file);
  } finally {
    await files.close();
  }
}

/** Reads the same lines twice: to count them, and to copy them. */
async function copyLatest(
  files: RecordedFiles,
  { endpoint, leastUs, sinceUs, untilUs }: RecordedPart,
  file: string,
): Promise<CopiedPart> {
  const fromUs = Math.max(leastUs, sinceUs);
  let count = 0;
  for await (const _ of files.lines(endpoint, fromUs, untilUs)) count++;
  const dropped = Math.max(0, count - MOST_RECORDED);
  const out = createWriteStream(file, { mode: 0o600 });
  let number = 0;
  let latestUs = Number.NEGATIVE_INFINITY;
  for await (const line of files.lines(endpoint, fromUs, untilUs)) {
    number++;
    latestUs = Math.max(latestUs, recordedArrivalUs(line));
    if (number > dropped && !out.write(`${line}\n`)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  return { requests: count - dropped, dropped, latestUs };
}
