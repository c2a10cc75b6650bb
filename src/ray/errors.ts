import { readProblem } from '../files/file-problem.js';
import { InputError, RunError } from '../kernel/errors.js';

/** Errors of the Ray client. Codes are stable and start with RAY_. */

/** A response of the dashboard that is no success. */
export class RayStatusError extends RunError {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super('RAY_STATUS', message);
  }
}

export const rayNotReached = (url: string, problem: string) =>
  new RunError('RAY_NOT_REACHED', `${url}: the Ray dashboard cannot be reached (${problem})`);

export const rayTokenRefused = (url: string) =>
  new RunError('RAY_TOKEN', `${url}: the Ray dashboard refuses the token; set 'token' of the Cluster`);

export const notRay = (url: string, problem: string) =>
  new RunError('RAY_RESPONSE', `${url}: the response is not that of a Ray dashboard (${problem}); check 'url'`);

export const responseTooLong = (url: string, path: string, most: number) =>
  new RunError('RAY_RESPONSE', `${url}: the response to ${path} is longer than ${Math.round(most / 2 ** 20)} MiB`);

export const unreadableCa = (file: string, error: unknown) =>
  new InputError('RAY_FILE', file, readProblem(error), "check 'ca_file'");

export const badServeTarget = (text: string, problem: string) =>
  new InputError(
    'RAY_SERVE_TARGET',
    `--ray-serve ${text}`,
    problem,
    'give the URL of a dashboard as in http://10.0.0.1:8265, then app=NAME, token_file=FILE and ca_file=FILE',
  );

export const unreadableToken = (file: string, error: unknown) =>
  new InputError('RAY_FILE', file, readProblem(error), 'check token_file: it names a file with the token of Ray');

export const serveTokenRefused = (url: string) =>
  new RunError('RAY_TOKEN', `${url}: the Ray dashboard refuses the token; check token_file`);
