import { snakeCase } from '../../../schema/names.js';
import { LIMIT_NAMES } from '../../../store/keys/key-record.js';
import { shown } from '../../errors.js';
import { NANOS_PER_DOLLAR } from '../account/account.js';
import { type LimitName, NEVER_FITS } from '../account/shortage.js';
import { appendLimitHeaders } from './limit-headers.js';
import { Refusal, type ShortLimit } from './refusal.js';
import type { Reservation } from './reservation.js';

/** Refusals by the limits of API keys. */

/** When to retry while the store does not respond. */
const STORE_RETRY_S = 1;

export const cannotCount = () =>
  new Refusal('unavailable', 'Limits cannot be checked now: the store does not respond.', {
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

/** Limits that reset after hours or days. */
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
    name: snakeCase(limit),
    scope: reservation.shortScope,
    most: most / unit,
    left: left / unit,
    needed: needed / unit,
  };
  const headers: string[] = [];
  appendLimitHeaders(headers, reservation);
  if (retryAfterS === NEVER_FITS) {
    const message = `This request counts for ${amount(needed)}, more than the whole limit of ${limitText}: it can never pass. Send a shorter prompt, or allow a shorter response.`;
    return new Refusal('over_limit', message, { headers, limit: short });
  }
  // A request that is refused before its body is read counts for an unknown number of tokens.
  const counts = needed === 0 ? '' : `this request counts for ${amount(needed)}, and `;
  const message = `The limit of ${limitText} is reached: ${counts}${amount(left)} is left. Try again in ${retryAfterS} s.`;
  return new Refusal(BUDGETS.has(limit) ? 'out_of_budget' : 'limited', message, { headers, limit: short, retryAfterS });
}

function dollars(nanos: number): string {
  return (nanos / NANOS_PER_DOLLAR).toFixed(9).replace(/\.?0+$/, '');
}
