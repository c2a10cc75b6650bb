import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { recordedLines } from '../../gateway/recording/recorded-lines.js';
import { type AdviceRequest, advise } from '../advise/advise.js';
import { planFleet } from '../plan/plan-fleet.js';
import type { PlanRequest } from '../plan/plan-request.js';
import { answerWhatIf, type WhatIfWatch } from '../whatif/answer-whatif.js';
import { noRequestsLeft } from '../whatif/errors.js';
import type { WhatIfQuestion } from '../whatif/whatif-question.js';

/** More are not simulated: the latest of them. */
export const MOST_RECORDED = 100_000;

/** Work on what a gateway recorded. Plain data: a worker thread takes it. */
export interface TwinTask {
  /** Null for work that needs none. */
  readonly recording: { readonly path: string; readonly endpoint: string; readonly sinceUs: number } | null;
  /** Where it writes the part that it works on. */
  readonly folder: string;
  /** About that part, instead of `recording` of the question. */
  readonly question: WhatIfQuestion;
  /** Absent, as `plan`: the question is answered and nothing more. */
  readonly advice?: AdviceRequest;
  readonly plan?: PlanRequest;
}

/** Does it in this thread: it computes for seconds to minutes, and waits for `watch` in between. */
export async function doTwinTask(
  { advice, folder, plan, question, recording }: TwinTask,
  watch: WhatIfWatch,
): Promise<object> {
  if (recording === null) return planFleet(question, plan!, watch);
  await watch({ stage: 'reading', done: 0, total: 0 });
  const file = join(folder, 'traffic.jsonl');
  const recordingName = `recording of endpoint ${recording.endpoint}`;
  const { count, dropped } = await copyRecorded(recording, file);
  if (count === 0) throw noRequestsLeft(recordingName, 'in this time');
  const asked = { ...question, recording: file, recordingName };
  const document =
    plan !== undefined
      ? await planFleet(asked, plan, watch)
      : advice !== undefined
        ? await advise(asked, advice, watch)
        : await answerWhatIf(asked, watch);
  if (dropped > 0)
    document.notes.push(`only the last ${MOST_RECORDED} requests were simulated: ${dropped} came before`);
  // Names a file that is deleted by now.
  document.recording!.file = 'gateway';
  return document;
}

/** Returns how many requests there are, and how many of the oldest were left out. */
async function copyRecorded(
  { endpoint, path, sinceUs }: NonNullable<TwinTask['recording']>,
  file: string,
): Promise<{ count: number; dropped: number }> {
  let count = 0;
  for await (const _ of recordedLines(path, endpoint, sinceUs)) count++;
  const dropped = Math.max(0, count - MOST_RECORDED);
  const out = createWriteStream(file, { mode: 0o600 });
  let number = 0;
  for await (const line of recordedLines(path, endpoint, sinceUs)) {
    number++;
    if (number > count) break;
    if (number > dropped && !out.write(`${line}\n`)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  return { count, dropped };
}
