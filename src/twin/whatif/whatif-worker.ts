import { parentPort, workerData } from 'node:worker_threads';
import { plainError } from '../../experiment/runs/worker-message.js';
import { mapStackTraces } from '../../files/map-stack-traces.js';
import { answerWhatIf } from './answer-whatif.js';
import type { WhatIfQuestion } from './whatif-question.js';

mapStackTraces();

/** A thread that answers one question, so that the thread that asked goes on serving. */
try {
  const document = await answerWhatIf(workerData as WhatIfQuestion, (progress) =>
    parentPort!.postMessage({ progress }),
  );
  parentPort!.postMessage({ document });
} catch (error) {
  parentPort!.postMessage({ error: plainError(error) });
}
