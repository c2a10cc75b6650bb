import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type PlainError, thrownError } from '../../experiment/runs/worker-message.js';
import { answerWhatIf } from './answer-whatif.js';
import { whatIfCancelled, whatIfLost } from './errors.js';
import type { WhatIfDocument } from './whatif-document.js';
import type { WhatIfProgress, WhatIfQuestion } from './whatif-question.js';

const WORKER = new URL('./whatif-worker.js', import.meta.url);

export interface WhatIfOptions {
  /** Cancels the question, also during a run: it is rejected with WHATIF_CANCELLED. */
  signal?: AbortSignal;
  onProgress?: (progress: WhatIfProgress) => void;
}

type WorkerMessage = { progress: WhatIfProgress } | { document: WhatIfDocument } | { error: PlainError };

/**
 * Predicts what another policy or fleet would have made of recorded traffic: first the recording as it was, against what was
 * measured, then every alternative, with intervals that have the error of the first. Computes in a thread of its own; in
 * this one where the program is not compiled.
 */
export async function whatIf(question: WhatIfQuestion, options: WhatIfOptions = {}): Promise<WhatIfDocument> {
  const { onProgress = () => {}, signal } = options;
  if (signal?.aborted) throw whatIfCancelled();
  if (existsSync(fileURLToPath(WORKER))) return inThread(question, onProgress, signal);
  return answerWhatIf(question, async (progress) => {
    onProgress(progress);
    // Lets other work through between two runs.
    await new Promise(setImmediate);
    if (signal?.aborted) throw whatIfCancelled();
  });
}

function inThread(
  question: WhatIfQuestion,
  onProgress: (progress: WhatIfProgress) => void,
  signal: AbortSignal | undefined,
): Promise<WhatIfDocument> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData: question });
    const end = (settle: () => void) => {
      signal?.removeEventListener('abort', cancel);
      void worker.terminate();
      settle();
    };
    const cancel = () => end(() => reject(whatIfCancelled()));
    signal?.addEventListener('abort', cancel, { once: true });
    worker.on('message', (message: WorkerMessage) => {
      if ('progress' in message) onProgress(message.progress);
      else if ('document' in message) end(() => resolve(message.document));
      else end(() => reject(thrownError(message.error)));
    });
    worker.on('error', (error) => end(() => reject(whatIfLost(error.message))));
    worker.on('exit', (code) => end(() => reject(whatIfLost(`its thread ended with code ${code}`))));
  });
}
