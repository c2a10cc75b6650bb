import { parentPort } from 'node:worker_threads';
import type { RunInputs } from '../experiment.js';
import { RunSimulator } from './simulate-run.js';
import { plainError, type WorkerResponse } from './worker-message.js';

/** A thread that simulates what it is told to, one run after the other. */
const simulator = new RunSimulator();

parentPort!.on('message', async (inputs: RunInputs) => {
  let response: WorkerResponse;
  try {
    response = { summary: await simulator.simulate(inputs) };
  } catch (error) {
    response = { error: plainError(error) };
  }
  parentPort!.postMessage(response);
});
