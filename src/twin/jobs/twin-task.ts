import { join } from 'node:path';
import { type AdviceRequest, advise } from '../advise/advise.js';
import { planFleet } from '../plan/plan-fleet.js';
import type { PlanRequest } from '../plan/plan-request.js';
import { answerWhatIf, type WhatIfWatch } from '../whatif/answer-whatif.js';
import { noRequests } from '../whatif/errors.js';
import type { WhatIfQuestion } from '../whatif/whatif-question.js';
import { copyRecorded, MOST_RECORDED, type RecordedPart } from './copy-recorded.js';

/** Requests before those that are asked about fill caches: of a quarter of that time, of an hour at most. */
const WARM_UP = 0.25;
const MOST_WARM_UP_US = 3_600_000_000;

/** Work on what a gateway recorded. Plain data: a worker thread takes it. */
export interface TwinTask {
  /** Null for work that needs none. */
  readonly recording: RecordedPart | null;
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
  const { sinceUs, untilUs = Date.now() * 1000 } = recording;
  const warmUs = Math.min(MOST_WARM_UP_US, WARM_UP * Math.max(0, untilUs - sinceUs));
  const { dropped, latestUs } = await copyRecorded({ ...recording, sinceUs: sinceUs - warmUs }, file);
  if (latestUs < sinceUs) throw noRequests(recordingName);
  const asked = { ...question, recording: file, recordingName, lastUs: latestUs - sinceUs };
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
