import { parentPort, workerData } from 'node:worker_threads';
import { plainError } from '../../experiment/runs/worker-message.js';
import { mapStackTraces } from '../../files/map-stack-traces.js';
import { giveWay } from './give-way.js';
import { doTwinTask, type TwinTask } from './twin-task.js';

mapStackTraces();
giveWay();

/** A thread that does one task, so that the gateway goes on serving. */
try {
  const document = await doTwinTask(workerData as TwinTask, (progress) => parentPort!.postMessage({ progress }));
  parentPort!.postMessage({ document });
} catch (error) {
  parentPort!.postMessage({ error: plainError(error) });
}
