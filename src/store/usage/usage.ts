import { setImmediate as immediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { StoreDatabase } from '../database/database.js';
import type { UsageTableRow } from '../database/schema.js';
import { storable } from '../database/storable.js';
import { API_KEY, subjectIdOf } from '../keys/key-record.js';
import {
  type Spent,
  USAGE_COUNTS,
  type UsageCounts,
  type UsageDimension,
  type UsageQuery,
  type UsageRow,
  type UsageSum,
} from './usage-record.js';

export * from './usage-record.js';

const COLUMNS = { key: 'key_id', model: 'model', endpoint: 'endpoint', day: 'day', outcome: 'outcome' } as const;

const COUNTS = {
  requests: 'requests',
  inputTokens: 'input_tokens',
  cachedTokens: 'cached_tokens',
  outputTokens: 'output_tokens',
  reasoningTokens: 'reasoning_tokens',
  estimatedRequests: 'estimated_requests',
  costNanos: 'cost_nanos',
  characters: 'characters',
  audioSeconds: 'audio_seconds',
} as const satisfies Record<keyof UsageCounts, string>;

const PRIMARY_KEY = ['key_id', 'day', 'model', 'endpoint', 'outcome'] as const;

const ADDED_UP = Object.fromEntries(
  Object.values(COUNTS).map((name) => [
    name,
    sql<number>`${sql.ref(`usage.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
  ]),
);

/** The workspace of endpoints of a gateway's file. */
const DEFAULT = 'default';

/** SQLite works on the thread that serves requests: between two batches of 2 ms these get their turn. */
const ROWS_PER_STATEMENT = 200;

/** Usage by key, model, endpoint, day and outcome. */
export class Usage {
  constructor(private readonly store: Pick<StoreDatabase, 'db' | 'exclusively' | 'kind' | 'now'>) {}

  /**
   * Adds the rows of a journal, completely and only once: a journal that was folded before changes nothing. Resolves to
   * whether it was added, and is then on disk. `gone` are journals that no longer exist, so they need not be
   * remembered.
   */
  async fold(journalId: string, rows: readonly UsageRow[], gone: readonly string[] = []): Promise<boolean> {
    const added = tableRows(rows);
    const foldedAt = await this.store.now();
    return this.store.exclusively(async (tx) => {
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('folded_journals')
        .values({ id: journalId, folded_at: foldedAt })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirstOrThrow();
      if (gone.length > 0) await tx.deleteFrom('folded_journals').where('id', 'in', gone).execute();
      if (numInsertedOrUpdatedRows === 0n) return false;
      for (let from = 0; from < added.length; from += ROWS_PER_STATEMENT) {
        await tx
          .insertInto('usage')
          .values(added.slice(from, from + ROWS_PER_STATEMENT))
          .onConflict((conflict) => conflict.columns(PRIMARY_KEY).doUpdateSet(ADDED_UP))
          .execute();
        await immediate();
      }
      return true;
    });
  }

  /**
   * The first totals by key and further dimensions, in their order: others are not read.
   * @param from no key before this one; all totals of the key are among them
   */
  async firstByKey(query: UsageQuery, from: string, keys: number): Promise<UsageSum[]> {
    const inOrder = sql`key_id collate ${this.store.kind === 'sqlite' ? sql`binary` : sql`"C"`}`;
    const wanted = (condition: RawBuilder<unknown>) => sql<boolean>`${this.#conditions(query)} and ${condition}`;
    const { rows } = await sql<{ key_id: string }>`select distinct ${inOrder} as key_id from usage
      where ${wanted(sql`${inOrder} >= ${from}`)} order by 1 limit ${keys}`.execute(this.store.db);
    const last = rows.at(-1);
    if (last === undefined) return [];
    return this.#sums(query, wanted(sql`${inOrder} >= ${from} and ${inOrder} <= ${last.key_id}`));
  }

  /** Totals in the order of the dimensions. No usage gives no row, except for a total without dimensions. */
  query(query: UsageQuery): Promise<UsageSum[]> {
    return this.#sums(query, this.#conditions(query));
  }

  async #sums(query: UsageQuery, wanted: RawBuilder<boolean>): Promise<UsageSum[]> {
    let select = this.store.db
      .selectFrom('usage')
      .select(Object.entries(COUNTS).map(([name, column]) => total(column).as(name)))
      .where(wanted);
    for (const dimension of query.by) {
      select = select.select(`${COLUMNS[dimension]} as ${dimension}`).groupBy(COLUMNS[dimension]);
    }
    const sums = (await select.execute()) as unknown as UsageSum[];
    // The two databases collate differently.
    return sums.sort((a, b) => inOrder(a, b, query.by));
  }

  #conditions(query: UsageQuery): RawBuilder<boolean> {
    const parts: RawBuilder<unknown>[] = [sql`1 = 1`];
    const equal = { key_id: query.keyId, model: query.model, endpoint: query.endpoint, outcome: query.outcome };
    for (const [column, value] of Object.entries(equal)) {
      if (value !== undefined) parts.push(sql`${sql.ref(column)} = ${value}`);
    }
    if (query.workspaces !== undefined) parts.push(this.#ofWorkspaces(query.workspaces));
    if (query.fromDay !== undefined) parts.push(sql`day >= ${query.fromDay}`);
    if (query.toDay !== undefined) parts.push(sql`day <= ${query.toDay}`);
    return sql<boolean>`${sql.join(parts, sql` and `)}`;
  }

  /**
   * Endpoints are named `workspace/name`, those of a gateway's file by their name alone: they belong to `default`. A key is
   * found in its workspace while it exists; the name of a token's subject begins with the workspace.
   */
  #ofWorkspaces(workspaces: readonly string[]): RawBuilder<boolean> {
    const parts = workspaces.flatMap((name) => [
      sql`endpoint like ${`${name}/%`}`,
      sql`key_id like ${`${subjectIdOf(name, '')}%`}`,
    ]);
    if (workspaces.includes(DEFAULT)) parts.push(sql`endpoint not like '%/%'`);
    // Last: what is decided by the row itself needs no look at the keys.
    const keys = sql`kind = ${API_KEY} and workspace in (${sql.join(workspaces)})`;
    // SQLite looks a key up by its id, PostgreSQL hashes them all at the first look, which its planner takes for less work.
    parts.push(
      this.store.kind === 'sqlite'
        ? sql`exists (select 1 from resources where uid = usage.key_id and ${keys})`
        : sql`key_id in (select uid from resources where ${keys})`,
    );
    return sql<boolean>`(${sql.join(parts, sql` or `)})`;
  }

  /** Spending of a key since the start of a day, by model, to compare with its budgets. */
  async spentBy(keyId: string, fromDay: string): Promise<Spent[]> {
    const sums = await this.query({ keyId, fromDay, by: ['model'] });
    return sums.map(({ model, requests, inputTokens, outputTokens, costNanos }) => ({
      model: model!,
      requests,
      tokens: inputTokens + outputTokens,
      costNanos,
    }));
  }
}

const total = (column: string) => sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`;

function inOrder(a: UsageSum, b: UsageSum, by: readonly UsageDimension[]): number {
  for (const dimension of by) {
    const [left, right] = [a[dimension]!, b[dimension]!];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Rows of the table, with equal keys added up: a statement may touch a row once. */
function tableRows(rows: readonly UsageRow[]): UsageTableRow[] {
  const merged = new Map<string, UsageTableRow>();
  for (const row of rows) {
    const [key_id, model, endpoint, day, outcome] = [row.keyId, row.model, row.endpoint, row.day, row.outcome].map(
      storable,
    ) as [string, string, string, string, string];
    const place = JSON.stringify([key_id, model, endpoint, day, outcome]);
    let sum = merged.get(place);
    if (sum === undefined) {
      sum = { key_id, model, endpoint, day, outcome, ...NOTHING };
      merged.set(place, sum);
    }
    for (const name of USAGE_COUNTS) {
      if (!Number.isSafeInteger(row[name]) || row[name] < 0) throw new RangeError(`${name} cannot be ${row[name]}`);
      sum[COUNTS[name]] += row[name];
    }
  }
  return [...merged.values()];
}

const NOTHING = {
  requests: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  estimated_requests: 0,
  cost_nanos: 0,
  characters: 0,
  audio_seconds: 0,
};
