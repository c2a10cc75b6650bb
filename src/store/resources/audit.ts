import type { Kysely, Selectable } from 'kysely';
import type { StoreTransaction } from '../database/database.js';
import type { AuditRow, StoreTables } from '../database/schema.js';
import { nextVersion } from './next-version.js';
import type { ResourceRecord, ResourceRef } from './resource-record.js';
import { withoutSealed } from './secrets.js';
import { auditedRows } from './seen-workspaces.js';

/** Actions in the audit log: changes of the declared state, and of the status where a client made them. */
export type AuditAction = 'create' | 'update' | 'delete' | 'remove' | StatusAction;
export type StatusAction = (typeof STATUS_ACTIONS)[number];
const STATUS_ACTIONS = ['issue', 'revoke', 'status'] as const;

/** A resource in the audit log: without secrets, and with a status only where the status was changed. */
export interface Audited {
  readonly spec: unknown;
  readonly labels: unknown;
  readonly status?: unknown;
}

/** An entry of the audit log. */
export interface AuditEntry extends ResourceRef {
  /** The resource version of the change. */
  readonly version: number;
  readonly at: number;
  readonly actor: string;
  readonly action: AuditAction;
  readonly uid: string;
  readonly before: Audited | null;
  readonly after: Audited | null;
}

export interface AuditQuery extends Partial<ResourceRef> {
  readonly uid?: string;
  /** Only what admins of these workspaces see. */
  readonly workspaces?: readonly string[];
  /** Only changes later, or earlier, than this version. */
  readonly after?: number;
  readonly before?: number;
  readonly actor?: string;
  /** Only changes of the declared state. */
  readonly declared?: true;
  readonly limit?: number;
}

/** A change of something that is not a resource. */
export interface PlainChange {
  readonly kind: 'Replica' | 'Policy' | 'Shadow' | 'Profile' | 'Configuration' | 'LabResult';
  /** Empty for what belongs to none. */
  readonly workspace: string;
  readonly name: string;
  readonly action: AuditAction;
  readonly before: object | null;
  readonly after: object | null;
}

const USUAL_LIMIT = 100;
type Db = Kysely<StoreTables>;

/** Runs in the transaction of the change itself: neither exists without the other. */
export async function writeAudit(
  tx: Db,
  actor: string,
  action: AuditAction,
  at: number,
  before: ResourceRecord | null,
  after: ResourceRecord | null,
  version: number,
): Promise<void> {
  const { kind, name, uid, workspace } = (after ?? before)!;
  const isOfStatus = STATUS_ACTIONS.some((one) => one === action);
  const shown = (record: ResourceRecord | null) => {
    if (record === null) return null;
    const { labels, spec, status } = record;
    return JSON.stringify(withoutSealed({ spec, labels, ...(isOfStatus ? { status } : {}) }));
  };
  await tx
    .insertInto('audit_log')
    .values({ version, at, actor, action, kind, workspace, name, uid, before: shown(before), after: shown(after) })
    .execute();
}

/** The same for something that is not a resource. Only fields that changed are written. */
export async function writePlainAudit(
  tx: StoreTransaction,
  actor: string,
  at: number,
  { action, after, before, kind, name, workspace }: PlainChange,
): Promise<void> {
  const shown = (spec: object | null) => (spec === null ? null : JSON.stringify({ spec, labels: {} }));
  if (action === 'update' && shown(before) === shown(after)) return;
  const version = await nextVersion(tx);
  await tx
    .insertInto('audit_log')
    .values({
      ...{ version, at, actor, action, kind, name, workspace, uid: name },
      ...{ before: shown(before), after: shown(after) },
    })
    .execute();
}

/** The latest first. */
export async function readAudit(db: Db, query: AuditQuery): Promise<AuditEntry[]> {
  let select = db
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('version', 'desc')
    .limit(query.limit ?? USUAL_LIMIT);
  for (const column of ['kind', 'workspace', 'name', 'uid', 'actor'] as const) {
    const wanted = query[column];
    if (wanted !== undefined) select = select.where(column, '=', wanted);
  }
  if (query.workspaces !== undefined) select = select.where(auditedRows(query.workspaces));
  if (query.declared) select = select.where('action', 'not in', STATUS_ACTIONS);
  if (query.after !== undefined) select = select.where('version', '>', query.after);
  if (query.before !== undefined) select = select.where('version', '<', query.before);
  return (await select.execute()).map(entryOf);
}

function entryOf({ after, before, ...row }: Selectable<AuditRow>): AuditEntry {
  const parsed = (text: string | null) => (text === null ? null : (JSON.parse(text) as Audited));
  return { ...row, action: row.action as AuditAction, before: parsed(before), after: parsed(after) };
}
