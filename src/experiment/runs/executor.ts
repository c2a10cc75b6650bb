import type { RunInputs } from '../experiment.js';
import type { RunSummary } from './run-summary.js';

/** Simulates runs, one or several at a time. */
export interface RunExecutor {
  /** How many runs it works on at once; passing more has no benefit. */
  readonly width: number;
  run(inputs: RunInputs): Promise<RunSummary>;
  /** Stops it, even during a run. */
  close(): Promise<void>;
}

/** Simulates in this thread. For a program that is not compiled: its workers would have nothing to start. */
export async function inProcessExecutor(): Promise<RunExecutor> {
  // With workers this thread need not load a simulator.
  const { RunSimulator } = await import('./simulate-run.js');
  const simulator = new RunSimulator();
  return {
    width: 1,
    async run(inputs) {
      // Lets signals and progress through between two runs.
      await new Promise(setImmediate);
      return simulator.simulate(inputs);
    },
    close: async () => {},
  };
}
