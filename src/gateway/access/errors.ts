import { ApiError } from '../../protocol/errors.js';
import { shown } from '../errors.js';

/** Refusals of API keys. None contains a secret: at most the id of a key, which is public. */

/** Created once, so that a flood of wrong keys costs no allocations. */
export const KEY_MISSING = new ApiError(
  'unauthorized',
  "No key was sent: give yours as 'authorization: Bearer KEY', or as 'x-api-key: KEY'.",
);

export const KEY_WRONG = new ApiError('unauthorized', 'The key that was sent is not known here.');

const TOO_MANY_WRONG_KEYS: ApiError[] = [];

export function tooManyWrongKeys(retryAfterS: number): ApiError {
  TOO_MANY_WRONG_KEYS[retryAfterS] ??= new ApiError(
    'limited',
    'Too many wrong keys came from your address. A right one is accepted at any time.',
    null,
    retryAfterS,
  );
  return TOO_MANY_WRONG_KEYS[retryAfterS];
}

export const keyExpired = (id: string) => new ApiError('unauthorized', `The key ${id} has expired.`);

export const keyRevoked = (id: string) => new ApiError('unauthorized', `The key ${id} has been revoked.`);

export const jwtRefused = (why: string) => new ApiError('unauthorized', `The token was refused: ${why}.`);

export const issuerUnreachable = () =>
  new ApiError('unavailable', 'The token cannot be checked now: the keys of its issuer are not available.', null, 1);

/** Created once, as above. */
export const TOKENS_BUSY = new ApiError(
  'unavailable',
  'The token cannot be checked now: too many others are.',
  null,
  1,
);

export const modelForbidden = (id: string, model: string) =>
  new ApiError(
    'forbidden',
    `The key ${id} may not use the model '${shown(model)}'. GET /v1/models lists those it may.`,
    'model',
  );
