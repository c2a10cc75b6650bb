import { sql } from 'kysely';
import type { StoreDatabase } from '../database/database.js';
import type { StoreSettings } from '../database/settings.js';
import { type AuditEntry, type AuditQuery, readAudit } from './audit.js';
import { VERSION_SETTING } from './next-version.js';
import { countResources } from './pages/count-resources.js';
import type { PageStart, ResourceFilter } from './pages/resource-conditions.js';
import { readResourcePage } from './pages/resource-pages.js';
import { type ResourceChange, type ResourceRecord, type ResourceRef, resourceRecordOf } from './resource-record.js';
import { ResourceTransaction } from './resource-transaction.js';
import { type Revision, readRevisions } from './revisions.js';

/** May return a promise: a change resolves once its listeners have. What it rejects with is ignored. */
export type ResourceListener = (changes: readonly ResourceChange[]) => unknown;

/** Rows read at once. */
const ROWS = 250;

/** The declared resources. Every change is audited, and on disk when its promise resolves. */
export class Resources {
  readonly #listeners = new Set<ResourceListener>();
  /** One change after the other, so that listeners get them in the order of their versions. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Pick<StoreDatabase, 'db' | 'kind' | 'exclusively' | 'now'> & {
      readonly settings: StoreSettings;
    },
  ) {}

  /**
   * Changes made together. If `work` throws, nothing has changed.
   * @param actor named in the audit log
   * @param lasts `past-crashes` is enough for what will be observed again, such as a status
   */
  change<Result>(
    actor: string,
    work: (transaction: ResourceTransaction) => Promise<Result>,
    lasts: 'past-power-cuts' | 'past-crashes' = 'past-power-cuts',
  ): Promise<Result> {
    const turn = this.#last.then(async () => {
      const now = await this.store.now();
      const [result, changes] = await this.store.exclusively(async (tx) => {
        const transaction = new ResourceTransaction(tx, actor, now);
        const result = await work(transaction);
        await transaction.end();
        return [result, transaction.changes] as const;
      }, lasts);
      const heard = changes.length === 0 ? [] : [...this.#listeners].map((listener) => listener(changes));
      return { result, heard: Promise.allSettled(heard) };
    });
    this.#last = turn.catch(() => {});
    return turn.then(async ({ heard, result }) => {
      await heard;
      return result;
    });
  }

  async get({ kind, name, workspace }: ResourceRef): Promise<ResourceRecord | null> {
    const row = await this.store.db
      .selectFrom('resources')
      .selectAll()
      .where('kind', '=', kind)
      .where('workspace', '=', workspace)
      .where('name', '=', name)
      .executeTakeFirst();
    return row === undefined ? null : resourceRecordOf(row);
  }

  /** By kind, workspace and name. */
  async list(query: { readonly kind?: string; readonly workspace?: string } = {}): Promise<ResourceRecord[]> {
    let select = this.store.db.selectFrom('resources').selectAll();
    if (query.kind !== undefined) select = select.where('kind', '=', query.kind);
    if (query.workspace !== undefined) select = select.where('workspace', '=', query.workspace);
    const ordered = select.orderBy('kind').orderBy('workspace').orderBy('name');
    return (await ordered.execute()).map(resourceRecordOf);
  }

  /** Some resources of a kind, in their order. @param after null for the first of them */
  page(filter: ResourceFilter, after: PageStart | null, limit: number): Promise<ResourceRecord[]> {
    return readResourcePage(this.store, filter, after, limit);
  }

  /** How many resources of a kind fit. */
  countFitting(filter: ResourceFilter): Promise<number> {
    return countResources(this.store, filter);
  }

  /**
   * The resources of some kinds, or all, by kind, workspace and name, read some at a time: no other query waits for all
   * of them.
   */
  async *eachRef(kinds: readonly string[] | null = null): AsyncGenerator<ResourceRef> {
    let last: ResourceRef | null = null;
    for (;;) {
      let select = this.store.db.selectFrom('resources').select(['kind', 'workspace', 'name']);
      const { kind: k, workspace: w, name: n }: ResourceRef = last ?? { kind: '', workspace: '', name: '' };
      if (last !== null) select = select.where(sql<boolean>`(kind, workspace, name) > (${k}, ${w}, ${n})`);
      if (kinds !== null) select = select.where('kind', 'in', kinds);
      const rows: ResourceRef[] = await select
        .orderBy('kind')
        .orderBy('workspace')
        .orderBy('name')
        .limit(ROWS)
        .execute();
      yield* rows;
      if (rows.length < ROWS) return;
      last = rows.at(-1)!;
    }
  }

  /** All of those of a kind, in the same way. */
  async *each(kind: string): AsyncGenerator<ResourceRecord> {
    for (let last: PageStart | null = null; ; ) {
      const rows: ResourceRecord[] = await this.page({ kind }, last, ROWS);
      yield* rows;
      if (rows.length < ROWS) return;
      last = rows.at(-1)!;
    }
  }

  /** Those of some kinds that were changed after a version, in the order of their changes, read in the same way. */
  async *changedSince(version: number, kinds: readonly string[]): AsyncGenerator<ResourceRecord> {
    for (let last = version; ; ) {
      const select = this.store.db.selectFrom('resources').selectAll().where('kind', 'in', kinds);
      const later = select.where('resource_version', '>', last);
      const rows = (await later.orderBy('resource_version').limit(ROWS).execute()).map(resourceRecordOf);
      yield* rows;
      if (rows.length < ROWS) return;
      last = rows.at(-1)!.resourceVersion;
    }
  }

  async count(kinds: readonly string[]): Promise<number> {
    const select = this.store.db.selectFrom('resources').where('kind', 'in', kinds);
    return Number((await select.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count);
  }

  async byUid(uid: string): Promise<ResourceRecord | null> {
    const row = await this.store.db.selectFrom('resources').selectAll().where('uid', '=', uid).executeTakeFirst();
    return row === undefined ? null : resourceRecordOf(row);
  }

  /** The places of resources by their uids; those that do not exist are missing. */
  async placesOf(uids: readonly string[]): Promise<Map<string, ResourceRef>> {
    if (uids.length === 0) return new Map();
    const select = this.store.db.selectFrom('resources').select(['uid', 'kind', 'workspace', 'name']);
    const rows = await select.where('uid', 'in', uids).execute();
    return new Map(rows.map(({ uid, ...ref }) => [uid, ref]));
  }

  /** Version of the last change of any resource; 0 before the first. */
  async version(): Promise<number> {
    return Number((await this.store.settings.get(VERSION_SETTING)) ?? 0);
  }

  audit(query: AuditQuery = {}): Promise<AuditEntry[]> {
    return readAudit(this.store.db, query);
  }

  /** The generations of a resource that are kept, the latest first. */
  revisions(uid: string): Promise<Revision[]> {
    return readRevisions(this.store.db, uid);
  }

  /** Calls the listener with the changes of this process, once committed; returns a function that stops it. It must not throw. */
  watch(listener: ResourceListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
