import { resultBytes, type Shard } from './shard.js';

/** Simulates shards, one or several at a time, in threads or on other machines. */
export interface RunExecutor {
  /** How many shards it works on at once; passing more has no benefit. */
  readonly width: number;
  /** Whether other processes compute shards: see `shardsOf`. */
  readonly isShared: boolean;
  /** The result, as `resultBytes` writes it. */
  run(shard: Shard): Promise<string>;
  /** Progress besides the number of runs, such as how many workers there are. */
  readonly status?: string;
  /** Told how far the experiment is. */
  update?(done: number, total: number): void;
  /** Keeps what was found where the experiment is listed; absent where none is. Returns its id. */
  keep?(found: string): Promise<string>;
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
    isShared: false,
    async run({ inputs }) {
      // Lets signals and progress through between two runs.
      await new Promise(setImmediate);
      return resultBytes(await simulator.simulate(inputs));
    },
    close: async () => {},
  };
}
