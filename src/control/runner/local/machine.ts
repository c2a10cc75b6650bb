import { availableParallelism, totalmem } from 'node:os';
import type { Machine } from './allocate.js';
import { nvidiaGpus } from './nvidia-smi.js';

/**
 * What this machine has. What is declared is believed; GPUs that are not are those that the driver lists.
 * @returns with it, why there may be more
 */
export async function thisMachine(
  declared: Partial<Machine>,
  env: NodeJS.ProcessEnv,
): Promise<{ machine: Machine; problems: string[] }> {
  const { gpus, problem } =
    declared.gpus === undefined ? await nvidiaGpus(env) : { gpus: declared.gpus, problem: null };
  // In a container the machine's memory is not all for us; where nothing is limited, the limit is no number or a huge one.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return {
    machine: {
      cpus: declared.cpus ?? availableParallelism(),
      memoryBytes: declared.memoryBytes ?? Math.min(totalmem(), limit),
      gpus,
    },
    problems: problem === null ? [] : [problem],
  };
}
