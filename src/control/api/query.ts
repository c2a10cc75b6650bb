import type { ResourceEvent } from '../../store/resource-events.js';
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

/** An event as people see it. */
export function eventView({
  count,
  firstAt,
  kind,
  lastAt,
  message,
  name,
  reason,
  type,
  workspace,
}: ResourceEvent): object {
  return {
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
