import type { StoreTransaction } from '../database/database.js';
import { type AuditAction, readAudit, type StatusAction, writeAudit } from './audit.js';
import { deleteWorkspaceRows } from './delete-workspace-rows.js';
import { makeUid } from './make-uid.js';
import { lastVersion, putVersion } from './next-version.js';
import { differences } from './resource-differences.js';
import { deletingResource, ResourceConflict, unknownResource } from './resource-errors.js';
import {
  type Json,
  type ResourceChange,
  type ResourceRecord,
  type ResourceRef,
  resourceRecordOf,
  resourceRowOf,
} from './resource-record.js';
import { deleteRevisions, keepRevision } from './revisions.js';

export interface ResourceContent {
  readonly spec: Json;
  readonly labels: Readonly<Record<string, string>>;
}

/** `any`: no condition; null: must not exist; a number: not changed since that version. */
export type Expected = number | null | 'any';

/** Changes of resources that are made together or not at all. */
export class ResourceTransaction {
  /** In the order in which they were made. */
  readonly changes: ResourceChange[] = [];
  /** The last version, once it is known: nothing else changes it before the transaction ends. */
  #version: number | null = null;
  /** As they are now. */
  readonly #known = new Map<string, ResourceRecord | null>();

  constructor(
    private readonly tx: StoreTransaction,
    private readonly actor: string,
    private readonly now: number,
  ) {}

  async get({ kind, name, workspace }: ResourceRef): Promise<ResourceRecord | null> {
    const known = this.#known.get(keyOf({ kind, workspace, name }));
    if (known !== undefined) return known;
    const row = await this.tx
      .selectFrom('resources')
      .selectAll()
      .where('kind', '=', kind)
      .where('workspace', '=', workspace)
      .where('name', '=', name)
      .executeTakeFirst();
    return this.know({ kind, workspace, name }, row === undefined ? null : resourceRecordOf(row));
  }

  async setting(name: string): Promise<string | null> {
    const row = await this.tx.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
    return row?.value ?? null;
  }

  /** Writes what all changes share; the last call. */
  async end(): Promise<void> {
    if (this.#version !== null) await putVersion(this.tx, this.#version);
  }

  async list(kind: string): Promise<ResourceRecord[]> {
    const rows = await this.tx.selectFrom('resources').selectAll().where('kind', '=', kind).execute();
    return rows.map(resourceRecordOf);
  }

  /** The resources of a workspace, of any kind. */
  refsIn(workspace: string): Promise<ResourceRef[]> {
    const rows = this.tx.selectFrom('resources').select(['kind', 'workspace', 'name']);
    return rows.where('workspace', '=', workspace).execute();
  }

  /** Creates or changes a resource. One that stays the same keeps its version. */
  async put(ref: ResourceRef, content: ResourceContent, expected: Expected = 'any'): Promise<ResourceRecord> {
    const before = await this.get(ref);
    await this.check(ref, before, expected);
    if (before === null) return this.create(ref, content);
    if (before.deletedAt !== null) throw deletingResource(ref);
    const isSpecNew = differences(before.spec, content.spec).length > 0;
    if (!isSpecNew && differences(before.labels, content.labels).length === 0) return before;
    const version = await this.nextVersion();
    const after: ResourceRecord = {
      ...before,
      ...content,
      generation: before.generation + (isSpecNew ? 1 : 0),
      resourceVersion: version,
      specVersion: version,
      updatedAt: this.now,
    };
    await this.save(after);
    if (isSpecNew) await keepRevision(this.tx, after);
    await this.done('changed', 'update', before, after, version);
    return after;
  }

  /**
   * Null when it no longer exists, or is another one of the same name. The spec is not touched.
   * @param action set when a client changed the status, rather than a reconciler observed it: the change is then audited
   */
  async putStatus(
    ref: ResourceRef,
    uid: string,
    status: Json,
    action: StatusAction | null = null,
  ): Promise<ResourceRecord | null> {
    const before = await this.get(ref);
    if (before === null || before.uid !== uid) return null;
    if (action === null && differences(before.status, status).length === 0) return before;
    const version = await this.nextVersion();
    const after: ResourceRecord = { ...before, status, resourceVersion: version };
    await this.save(after);
    if (action === null) this.changes.push({ type: 'status', version, record: after });
    else await this.done('status', action, before, after, version);
    return after;
  }

  /** The same for a status with private state beside it, which is neither audited nor shown. */
  async putPrivate(
    { kind, name, workspace, uid }: ResourceRecord,
    status: Json,
    privateState: Json,
    action: StatusAction,
  ): Promise<ResourceRecord> {
    const before = await this.get({ kind, workspace, name });
    if (before === null || before.uid !== uid) throw unknownResource({ kind, workspace, name });
    const version = await this.nextVersion();
    const after: ResourceRecord = { ...before, status, privateState, resourceVersion: version };
    await this.save(after);
    await this.done('status', action, before, after, version);
    return after;
  }

  /** Marks a resource for deletion; it exists until `remove`. Marking it again changes nothing. */
  async markDeleted(ref: ResourceRef, expected: number | 'any' = 'any'): Promise<ResourceRecord> {
    const before = await this.get(ref);
    if (before === null) throw unknownResource(ref);
    await this.check(ref, before, expected);
    if (before.deletedAt !== null) return before;
    const version = await this.nextVersion();
    const after = { ...before, resourceVersion: version, specVersion: version, deletedAt: this.now };
    await this.save(after);
    await this.done('deleting', 'delete', before, after, version);
    return after;
  }

  /** Removes a resource that is marked for deletion, once its replicas are gone. Returns whether it existed. */
  async remove(ref: ResourceRef, uid: string): Promise<boolean> {
    const before = await this.get(ref);
    if (before === null || before.uid !== uid || before.deletedAt === null) return false;
    const version = await this.nextVersion();
    await this.tx.deleteFrom('resources').where('uid', '=', uid).execute();
    this.know(ref, null);
    await deleteRevisions(this.tx, uid);
    if (ref.kind === 'Workspace') await deleteWorkspaceRows(this.tx, ref.name);
    await this.done('removed', 'remove', before, null, version);
    return true;
  }

  private async create(ref: ResourceRef, { labels, spec }: ResourceContent): Promise<ResourceRecord> {
    const version = await this.nextVersion();
    const record: ResourceRecord = {
      kind: ref.kind,
      workspace: ref.workspace,
      name: ref.name,
      uid: makeUid(),
      generation: 1,
      resourceVersion: version,
      specVersion: version,
      spec,
      status: null,
      privateState: null,
      labels,
      createdAt: this.now,
      updatedAt: this.now,
      deletedAt: null,
    };
    await this.tx.insertInto('resources').values(resourceRowOf(record)).execute();
    this.know(ref, record);
    await keepRevision(this.tx, record);
    await this.done('created', 'create', null, record, version);
    return record;
  }

  /** A status written meanwhile is not a conflict. */
  private async check(ref: ResourceRef, current: ResourceRecord | null, expected: Expected): Promise<void> {
    if (expected === 'any' || (expected === null && current === null)) return;
    if (expected !== null && current !== null && expected >= current.specVersion && expected <= current.resourceVersion)
      return;
    const since =
      current === null || expected === null
        ? []
        : await readAudit(this.tx, { uid: current.uid, after: expected, declared: true });
    throw new ResourceConflict(current, ref, expected, since.reverse());
  }

  private async nextVersion(): Promise<number> {
    this.#version = (this.#version ?? (await lastVersion(this.tx))) + 1;
    return this.#version;
  }

  private know(ref: ResourceRef, record: ResourceRecord | null): ResourceRecord | null {
    this.#known.set(keyOf(ref), record);
    return record;
  }

  private async save(record: ResourceRecord): Promise<void> {
    this.know(record, record);
    const { kind: _k, workspace: _w, name: _n, uid, created_at: _c, ...columns } = resourceRowOf(record);
    await this.tx.updateTable('resources').set(columns).where('uid', '=', uid).execute();
  }

  private async done(
    type: ResourceChange['type'],
    action: AuditAction,
    before: ResourceRecord | null,
    after: ResourceRecord | null,
    version: number,
  ): Promise<void> {
    await writeAudit(this.tx, this.actor, action, this.now, before, after, version);
    this.changes.push({ type, version, record: (after ?? before)! });
  }
}

const keyOf = ({ kind, name, workspace }: ResourceRef) => `${kind}/${workspace}/${name}`;
