import { folderProblem } from '../files/file-problem.js';
import { InputError, RunError } from '../kernel/errors.js';

/** Every error of this layer, by what went wrong. Codes are stable. */

export function cacheNotUsable(folder: string, error: unknown): InputError {
  const hint = 'choose a folder that may be written, or --no-cache';
  return new InputError('CACHE_NOT_USABLE', folder, folderProblem(error), hint);
}

/** A worker ended without a response. */
export function workerLost(problem: string): RunError {
  return new RunError('WORKER_LOST', `a run could not be simulated: ${problem}`);
}

export function traceChanged(path: string): InputError {
  const hint = 'run the command again when the file is complete: results for the new content are computed again';
  return new InputError('TRACE_CHANGED', path, 'the file changed while the experiment ran', hint);
}

export function emptyWindow(path: string, { from, to }: { from: number; to: number }): InputError {
  const part = `${Math.round(from * 100)} to ${Math.round(to * 100)} % of the requests`;
  return new InputError('EMPTY_WINDOW', path, `has no request in the window of ${part}`, 'give a longer trace');
}
