import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type PlainError, thrownError } from '../../experiment/runs/worker-message.js';
import type { WhatIfProgress } from '../whatif/whatif-question.js';
import { twinCancelled, twinLost } from './errors.js';
import { doTwinTask, type TwinTask } from './twin-task.js';

const WORKER = new URL('./twin-worker.js', import.meta.url);
/** A thread that needs more ends, and the gateway does not. */
const MOST_MEGABYTES = 2048;

export interface TwinTaskOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: WhatIfProgress) => void;
}

type WorkerMessage = { progress: WhatIfProgress } | { document: object } | { error: PlainError };

/** Does a task in a thread of its own; in this one where the program is not compiled. Nothing remains of it when it is cancelled. */
export async function runTwinTask(task: Omit<TwinTask, 'folder'>, options: TwinTaskOptions): Promise<object> {
  const { onProgress, signal } = options;
  if (signal.aborted) throw twinCancelled();
  const folder = mkdtempSync(join(tmpdir(), `twinyard-twin-${process.pid}-`));
  try {
    if (existsSync(fileURLToPath(WORKER))) return await inThread({ ...task, folder }, options);
    return await doTwinTask({ ...task, folder }, async (progress) => {
      onProgress(progress);
      await new Promise(setImmediate);
      if (signal.aborted) throw twinCancelled();
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inThread(task: TwinTask, { onProgress, signal }: TwinTaskOptions): Promise<object> {
  return new Promise((resolve, reject) => {
    const limits = { maxOldGenerationSizeMb: MOST_MEGABYTES };
    const worker = new Worker(WORKER, { workerData: task, resourceLimits: limits });
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', cancel);
      // Settled when the thread is gone: it writes nothing more.
      void worker.terminate().then(settle);
    };
    const cancel = () => end(() => reject(twinCancelled()));
    signal.addEventListener('abort', cancel, { once: true });
    worker.on('message', (message: WorkerMessage) => {
      if ('progress' in message) onProgress(message.progress);
      else if ('document' in message) end(() => resolve(message.document));
      else end(() => reject(thrownError(message.error)));
    });
    worker.on('error', (error) => end(() => reject(twinLost(error.message))));
    worker.on('exit', (code) => end(() => reject(twinLost(`its thread ended with code ${code}`))));
  });
}
