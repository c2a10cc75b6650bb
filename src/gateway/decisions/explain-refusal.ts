import type { RefusalRecord } from './refusal-ring.js';

/** Why a request was refused, for people: when, by what, and when to come back. */
export function explainRefusal(record: RefusalRecord): string {
  const { at, atUs, by, code, endpoint, id, key, limit, status } = record;
  const where = [
    ...(endpoint === null ? [] : [`endpoint ${endpoint}`]),
    ...(key === null ? [] : [`key ${key}`]),
    `${(atUs / 1e6).toFixed(3)} s after the start, ${at}`,
  ];
  return [
    `request ${id}: refused with ${status} (${code})`,
    where.join(', '),
    '',
    by,
    ...(limit === null ? [] : [limitText(limit)]),
    whenToCome(record),
    '',
  ].join('\n');
}

function limitText({ left, most, name, needed, scope }: NonNullable<RefusalRecord['limit']>): string {
  const models = scope === '*' ? 'all models' : scope;
  return `${name} of ${models}: ${left} of ${most} left, and the request counts for ${needed}`;
}

function whenToCome({ retryAfterS, retryAt, status }: RefusalRecord): string {
  if (retryAfterS !== null) return `come back after ${retryAfterS} s: at ${retryAt}`;
  return status >= 500 ? 'nobody can say when to come back' : 'no waiting helps, as things are';
}
