import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { StoreDatabase } from '../database/database.js';
import type { ResourceRow, StoreTables } from '../database/schema.js';
import { type ResourceRecord, type ResourceRef, resourceRecordOf } from './resource-record.js';
import { seenRows } from './seen-workspaces.js';

/** Where a page of resources begins: after this one. The time counts where they are in the order of their creation. */
export type PageStart = Pick<ResourceRef, 'workspace' | 'name'> & { readonly createdAt?: number };

/** The order of a page: by workspace and name, or by the time of creation. */
export interface PageOrder {
  readonly by: 'name' | 'created';
  readonly isDescending: boolean;
}

export interface ResourceFilter {
  readonly kind: string;
  readonly workspace?: string;
  /** Only those that a caller sees which sees these workspaces. */
  readonly workspaces?: readonly string[];
  /** Only those whose labels contain all of this as JSON. */
  readonly labelParts?: readonly string[];
  /** Only those with this in their name. */
  readonly search?: string;
  /** Only those that may be in this phase: some of them may not. */
  readonly phase?: string;
  readonly order?: PageOrder;
}

/** The kind of keys, whose phase follows from their other parts. */
const KEY = 'ApiKey';

const BY_NAME: PageOrder = { by: 'name', isDescending: false };

/** Rows that SQLite looks at in one statement: it works on the thread that serves requests. */
const ROWS_AT_ONCE = 2000;

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

/** What an index finds. */
function ranges({ kind, workspace, workspaces }: ResourceFilter): RawBuilder<unknown>[] {
  return [
    sql`kind = ${kind}`,
    ...(workspace === undefined ? [] : [sql`workspace = ${workspace}`]),
    ...(workspaces === undefined ? [] : [seenRows(workspaces)]),
  ];
}

/** What has to be looked for in every row. */
function contents({ kind, labelParts = [], phase, search }: ResourceFilter): RawBuilder<unknown>[] {
  return [
    ...(search === undefined ? [] : [contains('name', search)]),
    ...labelParts.map((part) => contains('labels', part)),
    ...(phase === undefined ? [] : [phaseRows(kind, phase)]),
  ];
}

/** A key has no phase until it is shown: it expires without anything being written. */
function phaseRows(kind: string, phase: string): RawBuilder<unknown> {
  if (kind !== KEY) return contains('status', `"phase":${JSON.stringify(phase)}`);
  if (phase === 'Revoked') return contains('status', '"revoked_at"');
  if (phase === 'Expired') return contains('spec', '"expires_at"');
  return phase === 'Pending' ? sql`private_state is null` : sql`private_state is not null`;
}

/** With `!` before what is special in a pattern. */
const contains = (column: string, text: string) =>
  sql`${sql.ref(column)} like ${`%${text.replace(/[!%_]/g, '!$&')}%`} escape '!'`;

const columnsOf = ({ by }: PageOrder) => (by === 'name' ? ['workspace', 'name'] : ['created_at', 'workspace', 'name']);

/** After a place, up to and including another one; null for no bound. */
function between(
  filter: Pick<ResourceFilter, 'workspace'>,
  order: PageOrder,
  start: PageStart | null,
  end: PageStart | null,
): RawBuilder<unknown>[] {
  // A range of pairs does not narrow an index whose first part is given already.
  const isNameAlone = order.by === 'name' && filter.workspace !== undefined;
  const columns = sql.join((isNameAlone ? ['name'] : columnsOf(order)).map((one) => sql.ref(one)));
  const bound = (comparison: string, { createdAt = 0, name, workspace }: PageStart) => {
    const pair = order.by === 'name' ? [workspace, name] : [createdAt, workspace, name];
    const key = isNameAlone ? [name] : pair;
    return sql`(${columns}) ${sql.raw(comparison)} (${sql.join(key)})`;
  };
  const [later, notLater] = order.isDescending ? ['<', '>='] : ['>', '<='];
  return [...(start === null ? [] : [bound(later, start)]), ...(end === null ? [] : [bound(notLater, end)])];
}

function ordered(order: PageOrder): RawBuilder<unknown> {
  const direction = sql.raw(order.isDescending ? 'desc' : 'asc');
  return sql`order by ${sql.join(columnsOf(order).map((one) => sql`${sql.ref(one)} ${direction}`))}`;
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

interface Place {
  readonly created_at?: number;
  readonly workspace: string;
  readonly name: string;
}

const placeOf = ({ created_at: createdAt, name, workspace }: Place): PageStart =>
  createdAt === undefined ? { workspace, name } : { createdAt, workspace, name };

/** The place of the row that is some rows after another one; null where fewer are left. An index has all that is read. */
async function placeAfter(
  db: Kysely<StoreTables>,
  filter: ResourceFilter,
  start: PageStart | null,
  order: PageOrder,
): Promise<PageStart | null> {
  const wanted = [...ranges(filter), ...between(filter, order, start, null)];
  const columns = sql.join(columnsOf(order).map((one) => sql.ref(one)));
  const { rows } = await sql<Place>`select ${columns} from resources
    where ${sql.join(wanted, sql` and `)} ${ordered(order)} limit 1 offset ${ROWS_AT_ONCE - 1}`.execute(db);
  return rows[0] === undefined ? null : placeOf(rows[0]);
}
