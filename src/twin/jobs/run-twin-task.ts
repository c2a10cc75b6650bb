import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { twinCancelled } from './errors.js';
import { inThread, type ThreadOptions, type ThreadProgress } from './in-thread.js';
import { removeAbandoned } from './remove-abandoned.js';
import { doTwinTask, type TwinTask } from './twin-task.js';

const WORKER = new URL('./twin-worker.js', import.meta.url);

/** Does a task in a thread of its own; in this one where the program is not compiled. Nothing remains of it when it is cancelled. */
export function runTwinTask(task: Omit<TwinTask, 'folder'>, options: ThreadOptions): Promise<object> {
  return inFolder((folder) => {
    const whole = { ...task, folder };
    return isCompiled(WORKER) ? inThread(WORKER, whole, options) : doTwinTask(whole, pausing(options));
  }, options);
}

/** Whether a thread can be started with this program. */
export const isCompiled = (program: URL) => existsSync(fileURLToPath(program));

/** Runs work that writes into a folder of its own, which is removed after it. */
export async function inFolder<Result>(
  work: (folder: string) => Promise<Result>,
  { signal }: Pick<ThreadOptions, 'signal'>,
): Promise<Result> {
  if (signal.aborted) throw twinCancelled();
  await removeAbandoned(tmpdir(), Date.now());
  const folder = mkdtempSync(join(tmpdir(), `twinyard-twin-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reports progress of work in this thread: others have their turn, and a cancelled one ends. */
export function pausing({ onProgress, signal }: ThreadOptions): (progress: ThreadProgress) => Promise<void> {
  return async (progress) => {
    onProgress(progress);
    await new Promise(setImmediate);
    if (signal.aborted) throw twinCancelled();
  };
}
