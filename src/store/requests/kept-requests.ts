import { setImmediate as immediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { StoreDatabase } from '../database/database.js';
import type { RequestRow } from '../database/schema.js';
import { storable } from '../database/storable.js';
import { deleteRequestsOf } from './delete-requests.js';
import {
  type KeptFacts,
  type KeptRequest,
  type NewRequest,
  type RequestFilter,
  type RequestPlace,
  slowLevel,
} from './kept-request.js';
import { requestConditions } from './request-conditions.js';
import { timeSlices } from './time-slices.js';

/** SQLite works on the thread that serves requests: between two statements of a millisecond these get their turn. */
const ROWS_PER_STATEMENT = 25;

/** Oldest rows of a workspace that are deleted at once. */
const DELETED_AT_ONCE = 50;

const COLUMNS = [
  ...(['ended_at', 'gateway', 'number', 'id', 'workspace', 'endpoint', 'model', 'key_id', 'slo_class'] as const),
  ...(['replica', 'outcome', 'ttft_us', 'duration_us', 'slow', 'facts'] as const),
] satisfies (keyof RequestRow)[];
const NUMBERS: ReadonlySet<string> = new Set(['ended_at', 'number', 'ttft_us', 'duration_us', 'slow']);

/** Requests that have ended, for as long as the gateways on the store keep them. */
export class KeptRequests {
  constructor(private readonly store: Pick<StoreDatabase, 'db' | 'append' | 'kind'>) {}

  /** Adds requests; those that are there already stay as they are. */
  async add(given: readonly NewRequest[]): Promise<void> {
    const rows = given.map(({ request }) => {
      const row = rowOf(request);
      return COLUMNS.map((name) => row[name]);
    });
    const explained = given.flatMap(({ explanation, request: { endedAt, gateway, number } }) =>
      explanation === null ? [] : [[endedAt, gateway, number, JSON.stringify(explanation)]],
    );
    await this.store.append(async (tx) => {
      const insert = async (table: string, columns: readonly string[], values: readonly unknown[][]) => {
        // One parameter for all rows: a statement of a thousand parameters takes longer to compile than to execute.
        const fields = columns.map((name, i) =>
          NUMBERS.has(name) ? sql`cast(r.value ->> ${sql.lit(i)} as bigint)` : sql`r.value ->> ${sql.lit(i)}`,
        );
        for (let from = 0; from < values.length; from += ROWS_PER_STATEMENT) {
          const json = JSON.stringify(values.slice(from, from + ROWS_PER_STATEMENT));
          const list =
            this.store.kind === 'sqlite' ? sql`json_each(${json})` : sql`jsonb_array_elements(${json}::jsonb)`;
          const source = this.store.kind === 'sqlite' ? sql`${list} as r` : sql`${list} as r(value)`;
          await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
            select ${sql.join(fields)} from ${source} where true on conflict do nothing`.execute(tx);
          await immediate();
        }
      };
      await insert('requests', COLUMNS, rows);
      await insert('request_decisions', ['ended_at', 'gateway', 'number', 'explanation'], explained);
    });
  }

  /** The latest first. @param before only those that stand after this place */
  async list(filter: RequestFilter, before: RequestPlace | null, limit: number): Promise<KeptRequest[]> {
    const wanted = requestConditions(filter, before);
    const found: KeptRequest[] = [];
    await this.#slices(filter, before, async (from, to) => {
      const { rows } = await sql<RequestRow>`select * from requests
        where ended_at >= ${from} and ended_at < ${to} and ${wanted}
        order by ended_at desc, gateway desc, number desc limit ${limit - found.length}`.execute(this.store.db);
      found.push(...rows.map(requestOf));
      return found.length < limit;
    });
    return found;
  }

  /** How many there are; at most `most`. */
  async count(filter: RequestFilter, most = Number.MAX_SAFE_INTEGER): Promise<number> {
    const wanted = requestConditions(filter, null);
    let count = 0;
    await this.#slices(filter, null, async (from, to) => {
      const { rows } = await sql<{ count: number }>`select cast(count(*) as bigint) as count from (
        select 1 as one from requests where ended_at >= ${from} and ended_at < ${to} and ${wanted}
        limit ${most - count}) as wanted`.execute(this.store.db);
      count += rows[0]!.count;
      return count < most;
    });
    return count;
  }

  /** The last request of an id; null when there is none. @param workspaces only of these; undefined for all */
  async find(id: string, workspaces?: readonly string[]): Promise<KeptRequest | null> {
    const wanted = workspaces === undefined ? sql`` : sql` and workspace in (${sql.join(workspaces)})`;
    const { rows } = await sql<RequestRow>`select * from requests where id = ${storable(id)}${wanted}
      order by ended_at desc limit 1`.execute(this.store.db);
    return rows[0] === undefined ? null : requestOf(rows[0]);
  }

  /** The explanation that was kept with a request; null for none. */
  async explanation({ endedAt, gateway, number }: RequestPlace): Promise<unknown> {
    const row = await this.store.db
      .selectFrom('request_decisions')
      .select('explanation')
      .where('ended_at', '=', endedAt)
      .where('gateway', '=', gateway)
      .where('number', '=', number)
      .executeTakeFirst();
    return row === undefined ? null : JSON.parse(row.explanation);
  }

  /**
   * Deletes the oldest requests, at most so many and none that ended at `until` or later. Resolves to how many are gone: 0 when
   * there are none.
   */
  async deleteOldest(most: number, until: number): Promise<number> {
    const first = this.store.db.selectFrom('requests').select('ended_at').where('ended_at', '<', until);
    // Reading waits for no other transaction.
    if ((await first.orderBy('ended_at').limit(1).executeTakeFirst()) === undefined) return 0;
    return this.store.append(async (tx) => {
      const oldest = await tx
        .selectFrom('requests')
        .select('ended_at')
        .where('ended_at', '<', until)
        .orderBy('ended_at')
        .limit(most)
        .execute();
      const last = oldest.at(-1);
      if (last === undefined) return 0;
      await tx.deleteFrom('request_decisions').where('ended_at', '<=', last.ended_at).execute();
      const { numDeletedRows } = await tx
        .deleteFrom('requests')
        .where('ended_at', '<=', last.ended_at)
        .executeTakeFirst();
      return Number(numDeletedRows);
    });
  }

  /**
   * Deletes the requests of a workspace, some at a time: no request of others waits for all of them.
   * @param until none that ended later
   */
  async deleteOf(workspace: string, until: number): Promise<void> {
    const first = this.store.db.selectFrom('requests').select('id').where('workspace', '=', workspace);
    // Reading waits for no other transaction.
    while ((await first.where('ended_at', '<=', until).limit(1).executeTakeFirst()) !== undefined) {
      await this.store.append((tx) => deleteRequestsOf(tx, workspace, until, DELETED_AT_ONCE));
      await immediate();
    }
  }

  /** PostgreSQL reads in its own process; what SQLite reads on this thread is divided into pieces. */
  async #slices(
    { from = 0, to = Number.MAX_SAFE_INTEGER }: RequestFilter,
    before: RequestPlace | null,
    read: (from: number, to: number) => Promise<boolean>,
  ): Promise<void> {
    const end = before === null ? to : Math.min(to, before.endedAt + 1);
    if (this.store.kind === 'postgres') {
      await read(from, end);
      return;
    }
    const ends = await sql<{ first: number | null; last: number | null }>`select
      (select min(ended_at) from requests) as first, (select max(ended_at) from requests) as last`.execute(
      this.store.db,
    );
    const { first, last } = ends.rows[0]!;
    if (first !== null && last !== null) await timeSlices(Math.max(from, first), Math.min(end, last + 1), read);
  }
}

function rowOf(one: KeptRequest): RequestRow {
  return {
    ended_at: one.endedAt,
    gateway: one.gateway,
    number: one.number,
    id: storable(one.id),
    workspace: storable(one.workspace),
    endpoint: storable(one.endpoint),
    model: storable(one.model),
    key_id: storable(one.keyId),
    slo_class: storable(one.sloClass),
    replica: storable(one.replica),
    outcome: one.outcome,
    ttft_us: one.ttftUs,
    duration_us: one.durationUs,
    slow: slowLevel(one.ttftUs),
    facts: JSON.stringify(one.facts),
  };
}

function requestOf(row: RequestRow): KeptRequest {
  return {
    endedAt: row.ended_at,
    gateway: row.gateway,
    number: row.number,
    id: row.id,
    workspace: row.workspace,
    endpoint: row.endpoint,
    model: row.model,
    keyId: row.key_id,
    sloClass: row.slo_class,
    replica: row.replica,
    outcome: row.outcome,
    ttftUs: row.ttft_us,
    durationUs: row.duration_us,
    facts: JSON.parse(row.facts) as KeptFacts,
  };
}
