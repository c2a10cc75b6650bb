import { Worker } from 'node:worker_threads';
import { type PlainError, thrownError } from '../../experiment/runs/worker-message.js';
import { twinCancelled, twinLost, twinTooLarge, twinTooLong } from './errors.js';

/** How far work is; `total` is 0 where the number of steps is not known. */
export interface ThreadProgress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
}

export interface ThreadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ThreadProgress) => void;
  /** Ends it after so long; absent: it may take any time. */
  readonly mostMs?: number;
  /** Ends it when it needs more; 2 GiB unless given. */
  readonly mostMegabytes?: number;
}

/** What a thread posts: how far it is, and at last its result or its error. */
export type ThreadMessage = { progress: ThreadProgress } | { document: object } | { error: PlainError };

/** A thread that needs more ends, and the gateway does not: objects by a limit of the thread, buffers by the size of the process. */
const MOST_MEGABYTES = 2048;
const WATCH_MS = 250;

/** Runs a program in a thread of its own. Settles when the thread is gone: it writes nothing more. */
export function inThread(program: URL, data: object, options: ThreadOptions): Promise<object> {
  const { mostMegabytes = MOST_MEGABYTES, mostMs, onProgress, signal } = options;
  if (signal.aborted) return Promise.reject(twinCancelled());
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
    });
    const before = process.memoryUsage.rss();
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', cancel);
      clearInterval(watch);
      clearTimeout(limit);
      void worker.terminate().then(settle);
    };
    const cancel = () => end(() => reject(twinCancelled()));
    signal.addEventListener('abort', cancel, { once: true });
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() - before > mostMegabytes * 2 ** 20) end(() => reject(twinTooLarge()));
    }, WATCH_MS);
    const limit = mostMs === undefined ? undefined : setTimeout(() => end(() => reject(twinTooLong(mostMs))), mostMs);
    worker.on('message', (message: ThreadMessage) => {
      if ('progress' in message) onProgress(message.progress);
      else if ('document' in message) end(() => resolve(message.document));
      else end(() => reject(thrownError(message.error)));
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      end(() => reject(isTooLarge ? twinTooLarge() : twinLost(error.message)));
    });
    worker.on('exit', (code) => end(() => reject(twinLost(`its thread ended with code ${code}`))));
  });
}
