import { InputError } from '../../kernel/errors.js';

/** The InputErrors of fitting. Codes are stable. */

export function nothingToFit(): InputError {
  return new InputError('FIT_NOTHING', 'fit', 'there are neither steps nor requests', 'give a trace or a step table');
}

export function tooFewSteps(found: number, least: number): InputError {
  return new InputError('FIT_TOO_FEW_STEPS', 'fit', `${found} measured steps`, `give at least ${least}`);
}

export function tooFewRequests(name: string, found: number, least: number): InputError {
  return new InputError(
    'FIT_TOO_FEW_REQUESTS',
    name,
    `${found} requests have both latencies`,
    `give a trace with at least ${least}`,
  );
}

/** Requests alone show how far a start is off, not what to start from. */
export function noStart(): InputError {
  return new InputError(
    'FIT_NO_START',
    'fit',
    'requests alone need something to start from',
    'name a model and a GPU of the catalogue, or give a profile of a similar engine',
  );
}
