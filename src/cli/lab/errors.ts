import { InputError, RunError } from '../../kernel/errors.js';
import { LAB_LIMITS } from '../../twin/lab/lab-question.js';

/** Errors of experiments that the API runs. Codes are stable. */

export function labFileRefused(place: string): InputError {
  const hint = "write the lengths into 'params', or run 'twinyard compare' where the file is";
  return new InputError('LAB_FILE', place, 'names a file, which an uploaded specification cannot', hint);
}

export function nothingRecorded(endpoint: string): InputError {
  const hint = 'choose a longer time, or wait for requests';
  return new InputError('LAB_NOTHING_RECORDED', `endpoint ${endpoint}`, 'has no recorded request in this time', hint);
}

export function tooManyArrivals(requests: number): InputError {
  const hint = `give at most ${LAB_LIMITS.requests}, or run 'twinyard compare', which has no limit`;
  return new InputError('LAB_TOO_LARGE', 'traffic', `has ${requests} requests`, hint);
}

export function tooLongPrompts(tokens: number): InputError {
  const hint = `give at most ${LAB_LIMITS.promptTokens}, or run 'twinyard compare', which has no limit`;
  return new InputError('LAB_TOO_LARGE', 'traffic', `has ${tokens} prompt tokens`, hint);
}

export function resultTooLarge(): RunError {
  return new RunError('LAB_TOO_LARGE', "the result is too large to keep: run 'twinyard compare' instead");
}
