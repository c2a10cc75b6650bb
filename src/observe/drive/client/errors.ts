import { InputError, RunError } from '../../../kernel/errors.js';
import { knownNames } from '../../../kernel/text/nearest-name.js';
import type { ResponseProblem } from './response-problem.js';

/** Every error of the load driver, by what went wrong. Codes are stable. */

export function modelNotServed(model: string, url: string, served: readonly string[]): InputError {
  return new InputError('MODEL_NOT_SERVED', '--model', `${url} does not serve '${model}'`, knownNames(model, served));
}

export function warmUpTooLong(warmUp: number, planned: number): InputError {
  const requests = `${planned} request${planned === 1 ? '' : 's'}`;
  const problem = `${warmUp} is more than the ${requests} of the plan: nothing would be recorded`;
  return new InputError('WARM_UP_TOO_LONG', '--warmup-requests', problem, `give fewer than ${planned}`);
}

/** The server cannot be measured: it does not respond to a first request. */
export function serverFails(url: string, what: string, problem: ResponseProblem): RunError {
  return new RunError('SERVER_FAILS', `${url}: ${what}: ${problem.message}${hintOf(problem)}`);
}

function hintOf(problem: ResponseProblem): string {
  if (problem.class === 'http_401' || problem.class === 'http_403') return '; give --api-key, or set TWINYARD_API_KEY';
  return problem.class === 'refused' ? '; start the server, or give the address it listens on' : '';
}

export function nothingMeasured(url: string, why: string): RunError {
  return new RunError('NOTHING_MEASURED', `${url}: nothing was measured: ${why}`);
}
