import { parentPort, workerData } from 'node:worker_threads';
import { plainError } from '../../experiment/runs/worker-message.js';
import { mapStackTraces } from '../../files/map-stack-traces.js';
import { giveWay } from '../../twin/jobs/give-way.js';
import type { LabTask } from '../../twin/lab/lab-task.js';
import { doLabTask } from './do-lab-task.js';

mapStackTraces();
giveWay();

/** A thread that runs one experiment, so that the gateway goes on serving. */
try {
  const { folder, task } = workerData as { task: LabTask; folder: string };
  const document = await doLabTask(task, folder, async (progress) => parentPort!.postMessage({ progress }));
  parentPort!.postMessage({ document });
} catch (error) {
  parentPort!.postMessage({ error: plainError(error) });
}
