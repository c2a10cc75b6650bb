import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { StoreTables } from '../../database/schema.js';
import type { ResourceRef } from '../resource-record.js';
import { seenRows } from '../seen-workspaces.js';

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

export const BY_NAME: PageOrder = { by: 'name', isDescending: false };

/** Rows that SQLite looks at in one statement: it works on the thread that serves requests. */
const ROWS_AT_ONCE = 2000;

/** What an index finds. */
export function ranges({ kind, workspace, workspaces }: ResourceFilter): RawBuilder<unknown>[] {
  return [
    sql`kind = ${kind}`,
    ...(workspace === undefined ? [] : [sql`workspace = ${workspace}`]),
    ...(workspaces === undefined ? [] : [seenRows(workspaces)]),
  ];
}

/** What has to be looked for in every row. */
export function contents({ kind, labelParts = [], phase, search }: ResourceFilter): RawBuilder<unknown>[] {
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
export function between(
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

export function ordered(order: PageOrder): RawBuilder<unknown> {
  const direction = sql.raw(order.isDescending ? 'desc' : 'asc');
  return sql`order by ${sql.join(columnsOf(order).map((one) => sql`${sql.ref(one)} ${direction}`))}`;
}

export interface Place {
  readonly created_at?: number;
  readonly workspace: string;
  readonly name: string;
}

export const placeOf = ({ created_at: createdAt, name, workspace }: Place): PageStart =>
  createdAt === undefined ? { workspace, name } : { createdAt, workspace, name };

/** The place of the row that is some rows after another one; null where fewer are left. An index has all that is read. */
export async function placeAfter(
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
