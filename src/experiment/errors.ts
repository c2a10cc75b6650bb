import { InputError, RunError } from '../kernel/errors.js';
import { readProblem } from '../workload/input-file.js';

/** Every error of this layer, by what went wrong. Codes are stable. */

export function cacheNotUsable(folder: string, error: unknown): InputError {
  const { code } = error as NodeJS.ErrnoException;
  const problem = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : readProblem(error);
  return new InputError('CACHE_NOT_USABLE', folder, problem, 'give a folder that may be written, or --no-cache');
}

/** A worker ended without a response. */
export function workerLost(problem: string): RunError {
  return new RunError('WORKER_LOST', `a run could not be simulated: ${problem}`);
}
