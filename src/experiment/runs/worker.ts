import { parentPort } from 'node:worker_threads';
import { mapStackTraces } from '../../files/map-stack-traces.js';
import type { RunInputs } from '../experiment.js';
import { resultBytes } from './shard.js';
import { RunSimulator } from './simulate-run.js';
import { plainError, type WorkerResponse } from './worker-message.js';

mapStackTraces();

/** A thread that simulates runs, one after the other. */
const simulator = new RunSimulator();

parentPort!.on('message', async (inputs: RunInputs) => {
  let response: WorkerResponse;
  try {
    response = { result: resultBytes(await simulator.simulate(inputs)) };
  } catch (error) {
    response = { error: plainError(error) };
  }
  parentPort!.postMessage(response);
});
