import { inThread, type ThreadOptions } from '../../twin/jobs/in-thread.js';
import { inFolder, isCompiled, pausing } from '../../twin/jobs/run-twin-task.js';
import { LAB_LIMITS } from '../../twin/lab/lab-question.js';
import type { LabResult, LabTask } from '../../twin/lab/lab-task.js';

const WORKER = new URL('./lab-worker.js', import.meta.url);

/** Runs an experiment of the API in a thread of its own; in this one where the program is not compiled. */
export function runLabTask(task: LabTask, options: ThreadOptions): Promise<LabResult> {
  return inFolder(async (folder) => {
    const bounded = { ...options, mostMs: LAB_LIMITS.minutes * 60_000 };
    if (isCompiled(WORKER)) return (await inThread(WORKER, { task, folder }, bounded)) as LabResult;
    const { doLabTask } = await import('./do-lab-task.js');
    return doLabTask(task, folder, pausing(options));
  }, options);
}
