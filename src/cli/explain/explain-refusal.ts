import type { RefusalRecord } from '../../gateway/decisions/refusal-ring.js';

/** Explains a refusal as text: when, by what, and when to retry. */
export function explainRefusal(record: RefusalRecord): string {
  const { at, atUs, by, code, endpoint, id, key, limit, shortfall, status } = record;
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
    ...(shortfall === null ? [] : [shortfallText(shortfall)]),
    retryText(record),
    '',
  ].join('\n');
}

function limitText({ left, most, name, needed, scope }: NonNullable<RefusalRecord['limit']>): string {
  const models = scope === '*' ? 'all models' : scope;
  return `${name} of ${models}: ${left} of ${most} left, and the request counts for ${needed}`;
}

function shortfallText({ bound, name, needed, value }: NonNullable<RefusalRecord['shortfall']>): string {
  return `${name}: ${shown(value)}, and ${needed} ${shown(bound)} lets it in`;
}

const shown = (value: number) => String(Number(value.toFixed(2)));

function retryText({ retryAfterS, retryAt, status }: RefusalRecord): string {
  if (retryAfterS !== null) return `retry after ${retryAfterS} s: at ${retryAt}`;
  return status >= 500 ? 'it is not known when a retry succeeds' : 'a retry does not help';
}
