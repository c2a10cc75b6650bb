import type { ResourceEvent } from '../../store/resources/resource-events.js';
import { badQuery } from './errors.js';

export function boundedNumber(
  query: URLSearchParams,
  name: string,
  usual: number,
  least: number,
  most: number,
): number {
  const text = query.get(name);
  if (text === null) return usual;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw badQuery(name, 'is out of range', `give a whole number from ${least} to ${most}`);
  return value;
}

export function yesOrNo(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? 'false';
  if (text !== 'true' && text !== 'false') throw badQuery(name, 'is neither true nor false', "give 'true'");
  return text === 'true';
}

/** An event as people see it. */
export function eventView({
  count,
  firstAt,
  id,
  kind,
  lastAt,
  message,
  name,
  reason,
  type,
  workspace,
}: ResourceEvent): object {
  return {
    id,
    kind,
    ...(workspace === '' ? {} : { workspace }),
    name,
    type,
    reason,
    message,
    count,
    first_at: new Date(firstAt).toISOString(),
    last_at: new Date(lastAt).toISOString(),
  };
}
