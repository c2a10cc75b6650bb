import { type RawBuilder, sql } from 'kysely';
import { storable } from '../database/storable.js';
import { FAILED_OUTCOMES, MOST_SLOW, type RequestFilter, type RequestPlace, slowLevel } from './kept-request.js';

/** The condition of a filter in SQL. Each part that an index helps with is written so that both databases use it. */
export function requestConditions(filter: RequestFilter, before: RequestPlace | null): RawBuilder<boolean> {
  const { except, idPrefix, minDurationUs = 0, minTtftUs, outcome, workspaces } = filter;
  const parts: RawBuilder<unknown>[] = [];
  const equal = (column: string, value: string | undefined) => {
    if (value !== undefined) parts.push(sql`${sql.ref(column)} = ${storable(value)}`);
  };
  equal('endpoint', filter.endpoint);
  equal('model', filter.model);
  equal('key_id', filter.keyId);
  equal('slo_class', filter.sloClass);
  equal('replica', filter.replica);
  if (outcome === 'failed') parts.push(sql`outcome in (${sql.join(FAILED_OUTCOMES)})`);
  else equal('outcome', outcome);
  if (workspaces !== undefined) parts.push(sql`workspace in (${sql.join(workspaces)})`);
  if (idPrefix !== undefined && idPrefix !== '') {
    const prefix = storable(idPrefix);
    // The greatest character follows every continuation.
    parts.push(sql`id >= ${prefix} and id < ${`${prefix}\u{10ffff}`}`);
  }
  if (minTtftUs !== undefined) {
    const least = slowLevel(minTtftUs);
    const levels = Array.from({ length: MOST_SLOW - least + 1 }, (_, i) => sql.lit(least + i));
    if (least > 0) parts.push(sql`slow in (${sql.join(levels)})`);
    parts.push(sql`ttft_us >= ${minTtftUs}`);
  }
  if (minDurationUs > 0) parts.push(sql`duration_us >= ${minDurationUs}`);
  if (before !== null) {
    parts.push(sql`(ended_at, gateway, number) < (${before.endedAt}, ${before.gateway}, ${before.number})`);
  }
  if (except !== undefined) parts.push(sql`(gateway <> ${except.gateway} or number < ${except.from})`);
  return parts.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`${sql.join(parts, sql` and `)}`;
}
