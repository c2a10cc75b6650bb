import type { Selectable } from 'kysely';
import type { StoreDatabase, StoreTransaction } from '../database/database.js';
import type { ResourceEventRow } from '../database/schema.js';
import type { ResourceRecord, ResourceRef } from './resource-record.js';
import { seenRows } from './seen-workspaces.js';

/** Something that happened to a resource, for operators. */
export interface ResourceEvent extends ResourceRef {
  /** Later events have higher ids. */
  readonly id: number;
  readonly uid: string;
  readonly type: 'normal' | 'warning';
  /** One word: `Started`. */
  readonly reason: string;
  readonly message: string;
  /** How often in a row, or alternating with a few others. */
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface EventQuery extends Partial<ResourceRef> {
  readonly uid?: string;
  /** Only those that a caller sees which sees these workspaces. */
  readonly workspaces?: readonly string[];
  /** Only events with lower ids, or with higher ones. */
  readonly before?: number;
  readonly after?: number;
  readonly limit?: number;
}

export interface EventLimits {
  readonly perResource: number;
  readonly total: number;
}

const LIMITS: EventLimits = { perResource: 100, total: 10_000 };
const LONGEST_MESSAGE = 4000;
/** An event that recurs is counted instead of added: if it is among the last few of its resource and recent enough. */
const RECENT = 8;
const RECENT_MS = 3_600_000;

/** Events kept per resource, and in total; older ones are deleted. */
export class ResourceEvents {
  constructor(
    private readonly store: Pick<StoreDatabase, 'db' | 'exclusively' | 'now'>,
    private readonly limits: EventLimits = LIMITS,
  ) {}

  async add(
    { kind, name, uid, workspace }: Pick<ResourceRecord, 'kind' | 'workspace' | 'name' | 'uid'>,
    type: ResourceEvent['type'],
    reason: string,
    message: string,
  ): Promise<void> {
    const at = await this.store.now();
    const text = message.slice(0, LONGEST_MESSAGE).replaceAll('\0', '\ufffd');
    await this.store.exclusively(async (tx) => {
      const recent = await tx
        .selectFrom('resource_events')
        .selectAll()
        .where('uid', '=', uid)
        .orderBy('id', 'desc')
        .limit(RECENT)
        .execute();
      const same = recent.find(
        (one, i) =>
          (i === 0 || at - one.last_at <= RECENT_MS) &&
          one.reason === reason &&
          one.message === text &&
          one.type === type,
      );
      const id = (await lastId(tx)) + 1;
      if (same !== undefined) {
        const again = { id, count: same.count + 1, last_at: at };
        await tx.updateTable('resource_events').set(again).where('id', '=', same.id).execute();
        return;
      }
      const row = { id, uid, kind, workspace, name, type, reason, message: text, count: 1, first_at: at, last_at: at };
      await tx.insertInto('resource_events').values(row).execute();
      await this.forget(tx, uid);
    }, 'past-crashes');
  }

  /** The latest first. */
  async list(query: EventQuery): Promise<ResourceEvent[]> {
    let select = this.store.db
      .selectFrom('resource_events')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(query.limit ?? 100);
    for (const column of ['kind', 'workspace', 'name', 'uid'] as const) {
      const wanted = query[column];
      if (wanted !== undefined) select = select.where(column, '=', wanted);
    }
    if (query.workspaces !== undefined) select = select.where(seenRows(query.workspaces));
    if (query.before !== undefined) select = select.where('id', '<', query.before);
    if (query.after !== undefined) select = select.where('id', '>', query.after);
    return (await select.execute()).map(eventOf);
  }

  private async forget(tx: StoreTransaction, uid: string): Promise<void> {
    const { perResource, total } = this.limits;
    const ids = tx.selectFrom('resource_events').select('id').orderBy('id', 'desc').limit(1);
    const old = await ids.where('uid', '=', uid).offset(perResource).executeTakeFirst();
    if (old !== undefined) {
      await tx.deleteFrom('resource_events').where('uid', '=', uid).where('id', '<=', old.id).execute();
    }
    const oldest = await ids.offset(total).executeTakeFirst();
    if (oldest !== undefined) await tx.deleteFrom('resource_events').where('id', '<=', oldest.id).execute();
  }
}

async function lastId(tx: StoreTransaction): Promise<number> {
  const row = await tx.selectFrom('resource_events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row?.id ?? 0;
}

function eventOf({ first_at, last_at, type, ...row }: Selectable<ResourceEventRow>): ResourceEvent {
  return { ...row, type: type as ResourceEvent['type'], firstAt: first_at, lastAt: last_at };
}
