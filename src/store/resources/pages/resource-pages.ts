import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { StoreDatabase } from '../../database/database.js';
import type { ResourceRow, StoreTables } from '../../database/schema.js';
import { type ResourceRecord, resourceRecordOf } from '../resource-record.js';
import {
  BY_NAME,
  between,
  contents,
  ordered,
  type PageOrder,
  type PageStart,
  type Place,
  placeAfter,
  placeOf,
  type ResourceFilter,
  ranges,
} from './resource-conditions.js';

/** Some resources of a kind, in their order. @param after null for the first of them */
export async function readResourcePage(
  { db, kind: database }: Pick<StoreDatabase, 'db' | 'kind'>,
  filter: ResourceFilter,
  after: PageStart | null,
  limit: number,
): Promise<ResourceRecord[]> {
  const { order = BY_NAME } = filter;
  const looksInto = contents(filter);
  if (database === 'postgres' || looksInto.length === 0) {
    const wanted = [...ranges(filter), ...between(filter, order, after, null), ...looksInto];
    return read(db, wanted, order, limit);
  }
  const found: ResourceRecord[] = [];
  for (let start = after; ; ) {
    const end = await placeAfter(db, filter, start, order);
    const wanted = [...ranges(filter), ...between(filter, order, start, end), ...looksInto];
    found.push(...(await read(db, wanted, order, limit - found.length)));
    if (found.length >= limit || end === null) return found;
    start = end;
    // Few fit: rows that lie apart from each other are read more slowly than the whole table.
    if (order.by === 'created') return [...found, ...(await gathered(db, filter, start, order, limit - found.length))];
  }
}

async function read(
  db: Kysely<StoreTables>,
  wanted: readonly RawBuilder<unknown>[],
  order: PageOrder,
  limit: number,
): Promise<ResourceRecord[]> {
  const { rows } = await sql<Selectable<ResourceRow>>`select * from resources where ${sql.join(wanted, sql` and `)}
    ${ordered(order)} limit ${limit}`.execute(db);
  return rows.map(resourceRecordOf);
}

/** Those after a place that fit, in the order of their creation, found by reading all of them in the order of the table. */
async function gathered(
  db: Kysely<StoreTables>,
  filter: ResourceFilter,
  start: PageStart,
  order: PageOrder,
  limit: number,
): Promise<ResourceRecord[]> {
  const direction = order.isDescending ? -1 : 1;
  const compare = (a: PageStart, b: PageStart) =>
    direction * (a.createdAt! - b.createdAt! || compared(a.workspace, b.workspace) || compared(a.name, b.name));
  const places: PageStart[] = [];
  for (let from: PageStart | null = null; ; ) {
    const end: PageStart | null = await placeAfter(db, filter, from, BY_NAME);
    const wanted = [...ranges(filter), ...between(filter, BY_NAME, from, end), ...contents(filter)];
    const { rows } = await sql<Place>`select created_at, workspace, name from resources
      where ${sql.join(wanted, sql` and `)} ${ordered(BY_NAME)}`.execute(db);
    places.push(...rows.map(placeOf).filter((one) => compare(one, start) > 0));
    if (end === null) break;
    from = end;
  }
  const page = places.sort(compare).slice(0, limit);
  const keys = JSON.stringify(page.map(({ name, workspace }) => [workspace, name]));
  const { rows } = await sql<Selectable<ResourceRow>>`select r.* from json_each(${keys}) as k join resources as r
    on r.kind = ${filter.kind} and r.workspace = k.value ->> 0 and r.name = k.value ->> 1 order by k.key`.execute(db);
  return rows.map(resourceRecordOf);
}

const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
