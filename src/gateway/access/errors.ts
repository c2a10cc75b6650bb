import { ApiError } from '../../protocol/errors.js';
import { LIMIT_NAMES } from '../../store/keys/key-record.js';
import { limitKey } from '../../store/keys/key-view.js';
import { NANOS_PER_DOLLAR } from './account.js';
import { appendLimitHeaders } from './limit-headers.js';
import { Refusal, type ShortLimit } from './refusal.js';
import type { Reservation } from './reservation.js';
import { type LimitName, NEVER } from './shortage.js';

/** What those are told who may not, or not now. Never with the key: at most with its id, which is no secret. */

/** A name as its sender gave it, no longer than a message should be. */
const shown = (name: string) => (name.length > 100 ? `${name.slice(0, 97)}...` : name);

/** Made once: who sends wrong keys as fast as possible shall not keep us busy with errors. */
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

export const modelForbidden = (id: string, model: string) =>
  new ApiError(
    'forbidden',
    `The key ${id} may not use the model '${shown(model)}'. GET /v1/models lists those it may.`,
    'model',
  );

/** How soon a store that does not answer may be back. */
const STORE_RETRY_S = 1;

export const cannotCount = () =>
  new Refusal('unavailable', 'Limits cannot be checked now, because the store does not answer.', {
    retryAfterS: STORE_RETRY_S,
  });

const UNITS: Record<LimitName, string> = {
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  concurrent: 'requests at a time',
  tokensPerDay: 'tokens per day',
  tokensPerMonth: 'tokens per month',
  dollarsPerDay: 'dollars per day',
  dollarsPerMonth: 'dollars per month',
};

/** Limits whose end is a matter of hours or days, not of a minute. */
const BUDGETS: ReadonlySet<LimitName> = new Set(LIMIT_NAMES.filter((name) => /Day|Month/.test(name)));

/** A reservation that did not fit. */
export function overLimit(reservation: Reservation): Refusal {
  const { left, limit, most, needed, retryAfterS } = reservation.shortage!;
  const isMoney = limit.startsWith('dollars');
  const amount = (value: number) => (isMoney ? dollars(value) : String(value));
  const scope = reservation.shortScope === '*' ? 'all models' : `model '${shown(reservation.shortScope)}'`;
  const limitText = `${amount(most)} ${UNITS[limit]} (${scope})`;
  const unit = isMoney ? NANOS_PER_DOLLAR : 1;
  const short: ShortLimit = {
    name: limitKey(limit),
    scope: reservation.shortScope,
    most: most / unit,
    left: left / unit,
    needed: needed / unit,
  };
  const headers: string[] = [];
  appendLimitHeaders(headers, reservation);
  if (retryAfterS === NEVER) {
    const message = `This request counts for ${amount(needed)}, more than the whole limit of ${limitText}: it can never pass. Send a shorter prompt, or allow a shorter answer.`;
    return new Refusal('over_limit', message, { headers, limit: short });
  }
  const message = `The limit of ${limitText} is reached: this request counts for ${amount(needed)}, and ${amount(left)} is left. Try again in ${retryAfterS} s.`;
  return new Refusal(BUDGETS.has(limit) ? 'out_of_budget' : 'limited', message, { headers, limit: short, retryAfterS });
}

function dollars(nanos: number): string {
  return (nanos / NANOS_PER_DOLLAR).toFixed(9).replace(/\.?0+$/, '');
}
