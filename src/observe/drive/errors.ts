import { InputError, RunError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';
import type { AnswerProblem } from './answer-problem.js';

/** Every error of the load driver, by what went wrong. Codes are stable. */

export function modelNotServed(model: string, url: string, served: readonly string[]): InputError {
  return new InputError('MODEL_NOT_SERVED', '--model', `${url} does not serve '${model}'`, knownNames(model, served));
}

/** The server cannot be measured: it does not answer even a first question. */
export function serverFails(url: string, what: string, problem: AnswerProblem): RunError {
  const isKey = problem.class === 'http_401' || problem.class === 'http_403';
  const remedy = isKey ? '; give --api-key, or set TWINYARD_API_KEY' : '';
  return new RunError('SERVER_FAILS', `${url}: ${what}: ${problem.message}${remedy}`);
}

export function nothingMeasured(url: string, why: string): RunError {
  return new RunError('NOTHING_MEASURED', `${url}: nothing was measured: ${why}`);
}
