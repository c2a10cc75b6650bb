import type { InputError } from '../../kernel/errors.js';
import { API_KEY } from '../../store/keys/key-record.js';
import type { Store } from '../../store/open-store.js';
import type { KeptRequests } from '../../store/requests/kept-requests.js';
import type { StatusAction } from '../../store/resources/audit.js';
import { differences } from '../../store/resources/resource-differences.js';
import { shownRef, unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceEvents } from '../../store/resources/resource-events.js';
import type { Json, ResourceRecord, ResourceRef } from '../../store/resources/resource-record.js';
import type { Expected, ResourceTransaction } from '../../store/resources/resource-transaction.js';
import type { Resources } from '../../store/resources/resources.js';
import { checkedStatus } from '../resources/check-resource.js';
import { InvalidResources } from '../resources/errors.js';
import type { PlaceOf } from '../resources/kind.js';
import { kindNamed } from '../resources/kinds.js';
import { type PlannedChange, plan } from '../resources/plan.js';
import type { Draft } from '../resources/read-resources.js';
import type { Resource } from '../resources/resource.js';
import { CONTROL_PLANE } from './actors.js';
import { addressProblems, withAddressRights } from './address-limits.js';
import { isBuiltIn } from './built-in.js';
import { builtIn, nameTaken, resourceInUse } from './errors.js';
import { type OperatorChange, operatorProblems } from './operator-limits.js';
import { type Present, type PresentOf, referenceProblems } from './reference-problems.js';
import { usersOf } from './references.js';
import { refOf, resourceView } from './resource-view.js';
import { NO_SECRETS, type Secrets, sealSpec, unsealSpec } from './sealed-spec.js';

/** A checked resource, the places of its fields, and the version it must replace: that of its metadata unless given. */
export interface Wanted {
  readonly resource: Resource;
  readonly placeOf: PlaceOf;
  readonly expected?: Expected;
}

export interface Applied extends PlannedChange {
  /** The resource after the change, or after the dry run. */
  readonly resource: Resource;
}

export interface ApplyOptions {
  readonly dryRun?: boolean;
  /** The actor has the role admin in every workspace. Without it, what only such an admin may set is refused. */
  readonly isAdmin?: boolean;
}

/** Resources with the rules of their kinds: encrypted secrets, references, views. */
export class ControlStore {
  readonly resources: Resources;
  readonly events: ResourceEvents;
  private readonly requests: Pick<KeptRequests, 'deleteOf'>;

  constructor(
    store: Store,
    private readonly box: Secrets = NO_SECRETS,
    /** Throws when callers must not change anything here; called in each of their transactions. */
    private readonly guard: (tx: ResourceTransaction) => Promise<void> = async () => {},
  ) {
    this.resources = store.resources;
    this.events = store.events;
    this.requests = store.requests;
  }

  /** Applies resources, all or none; those without a change are left alone. A dry run reports what would change. */
  async apply(actor: string, wanted: readonly Wanted[], options: ApplyOptions = {}): Promise<Applied[]> {
    let applied: Applied[] = [];
    try {
      return await this.resources.change(actor, async (tx) => {
        await this.guard(tx);
        applied = [];
        const problems: InputError[] = [];
        const changes: OperatorChange[] = [];
        for (const one of wanted) {
          const before = await tx.get(refOf(one.resource));
          const { after, ...done } = await this.put(tx, one, before, options.isAdmin === true);
          applied.push(done);
          changes.push({ before, after, placeOf: one.placeOf });
        }
        // After all are in place: resources of one file may refer to each other in any order.
        const present = once((kind) => existing(tx, kind));
        for (const one of wanted) {
          problems.push(...(await problemsAmong(tx, one, present)));
          if (problems.length >= MOST_PROBLEMS) break;
        }
        if (options.isAdmin !== true) {
          for (const change of changes) {
            problems.push(...(await operatorProblems(change, tx)), ...addressProblems(change));
          }
        }
        if (problems.length > 0) throw new InvalidResources(problems);
        if (options.dryRun) throw new DryRun();
        return applied;
      });
    } catch (error) {
      if (error instanceof DryRun) return applied;
      throw error;
    }
  }

  /** References of some documents to resources that are neither in the store nor among `all` documents. */
  async problemsIn(some: readonly Draft[], all: readonly Draft[]): Promise<InputError[]> {
    const present = once(async (kind: string) => [
      ...all.filter((one) => one.kind.kind === kind).map(presentDraft),
      ...(await this.resources.list({ kind })).filter(({ deletedAt }) => deletedAt === null),
    ]);
    const problems: InputError[] = [];
    for (const one of some) {
      problems.push(...(await referenceProblems({ ...one, kind: one.kind.kind }, present)));
      if (problems.length >= MOST_PROBLEMS) break;
    }
    return problems;
  }

  async get(ref: ResourceRef): Promise<Resource | null> {
    const record = await this.resources.get(ref);
    return record === null ? null : resourceView(record);
  }

  /** @param selects by labels */
  async list(
    query: { readonly kind?: string; readonly workspace?: string },
    selects: (labels: Readonly<Record<string, string>>) => boolean = () => true,
  ): Promise<Resource[]> {
    return (await this.resources.list(query)).filter(({ labels }) => selects(labels)).map(resourceView);
  }

  /** With its secrets, for reconcilers only. */
  async revealed(ref: ResourceRef): Promise<Resource | null> {
    const record = await this.resources.get(ref);
    return record === null ? null : { ...resourceView(record), spec: this.secretsOf(record) };
  }

  /** The spec of a record with its secrets, for reconcilers only. */
  secretsOf(record: ResourceRecord): Record<string, unknown> {
    return unsealSpec(this.box, kindNamed(record.kind, record.kind), record, record.spec);
  }

  /**
   * Deletes a resource: it exists until its replicas, routes or files have been removed. An ApiKey has none and is
   * removed at once. Built-in resources and those that others need are refused.
   */
  async delete(actor: string, ref: ResourceRef, expected: number | 'any' = 'any'): Promise<Resource> {
    const record = await this.resources.change(actor, async (tx) => {
      await this.guard(tx);
      if ((await tx.get(ref)) === null) throw unknownResource(ref);
      if (isBuiltIn(ref)) throw builtIn(ref);
      const users = await usersIn(tx, ref);
      if (users.length > 0) throw resourceInUse(ref, users);
      const marked = await tx.markDeleted(ref, expected);
      if (ref.kind === API_KEY) await tx.remove(ref, marked.uid);
      return marked;
    });
    return resourceView(record);
  }

  /** Stores an observed status. Null when the resource is gone, or another one has its name. */
  async putStatus(ref: ResourceRef, uid: string, status: unknown): Promise<Resource | null> {
    const checked = statusOf(ref, status);
    // Most of the time nothing has changed: then there is nothing to write, and no lock to wait for.
    const present = await this.resources.get(ref);
    if (present === null || present.uid !== uid) return null;
    if (differences(present.status, checked).length === 0) return resourceView(present);
    const work = (tx: ResourceTransaction) => tx.putStatus(ref, uid, checked);
    const record = await this.resources.change(CONTROL_PLANE, work, 'past-crashes');
    return record === null ? null : resourceView(record);
  }

  /** The same for an action of a caller, which is written to the audit log even if the status stays the same. */
  async actOn(
    actor: string,
    action: StatusAction,
    ref: ResourceRef,
    uid: string,
    status: unknown,
  ): Promise<Resource | null> {
    const checked = statusOf(ref, status);
    const record = await this.resources.change(actor, async (tx) => {
      await this.guard(tx);
      return tx.putStatus(ref, uid, checked, action);
    });
    return record === null ? null : resourceView(record);
  }

  /** Removes a deleted resource once its replicas and routes are gone. */
  async remove(ref: ResourceRef, uid: string): Promise<boolean> {
    // Before the transaction, which takes what has come since: in one piece they would hold up all requests.
    if (ref.kind === 'Workspace') await this.requests.deleteOf(ref.name, Number.MAX_SAFE_INTEGER);
    return this.resources.change(CONTROL_PLANE, (tx) => tx.remove(ref, uid));
  }

  private async put(
    tx: ResourceTransaction,
    { expected, placeOf, resource }: Wanted,
    before: ResourceRecord | null,
    isAdmin: boolean,
  ): Promise<Applied & { readonly after: ResourceRecord }> {
    const ref = refOf(resource);
    const kind = kindNamed(resource.kind, resource.kind);
    const given = withAddressRights(resource.kind, resource.spec, before, isAdmin);
    const spec = sealSpec(this.box, kind, ref, given, before?.spec ?? null, placeOf);
    const content = { spec, labels: resource.metadata.labels };
    const [planned] = plan(before === null ? [] : [before], [{ ...ref, ...content }]);
    const after = await tx.put(
      ref,
      content,
      expected === undefined ? (resource.metadata.resource_version ?? 'any') : expected,
    );
    return { ...planned!, resource: resourceView(after), after };
  }
}

const statusOf = ({ kind }: ResourceRef, status: unknown) =>
  checkedStatus(kindNamed(kind, 'status'), status, (path) => `status (${path})`) as unknown as Json;

/** Kinds that share a path of requests, and so their names. */
const TWINS: Readonly<Record<string, string>> = { Endpoint: 'ExternalEndpoint', ExternalEndpoint: 'Endpoint' };

/** The kind that refers to resources of a kind. */
const USED_BY: Readonly<Record<string, string>> = {
  ApiKey: 'Role',
  Cluster: 'Endpoint',
  Engine: 'Endpoint',
  ModelRegistry: 'Endpoint',
};

/** Rolls back a transaction whose changes were only reported. */
class DryRun extends Error {}

const presentDraft = ({ isRight, kind, name, spec, workspace }: Draft): Present => ({
  ...{ kind: kind.kind, workspace, name },
  spec: isRight ? (spec as Record<string, unknown>) : null,
});

async function problemsAmong(
  tx: ResourceTransaction,
  { placeOf, resource }: Wanted,
  present: PresentOf,
): Promise<InputError[]> {
  const { workspace } = resource.metadata;
  const referring = { ...refOf(resource), spec: resource.spec, placeOf };
  const problems = await referenceProblems(referring, present);
  const twin = TWINS[resource.kind];
  if (twin !== undefined) {
    const { name } = resource.metadata;
    const other = await tx.get({ kind: twin, workspace: workspace ?? '', name });
    if (other !== null) problems.push(nameTaken(placeOf('metadata.name'), shownRef(other)));
  }
  return problems;
}

/** More are not reported: reading them takes longer than fixing the first. */
const MOST_PROBLEMS = 100;

/** Reads each kind once, however many resources refer to it. */
function once(read: PresentOf): PresentOf {
  const known = new Map<string, ReturnType<PresentOf>>();
  return (kind) => {
    const found = known.get(kind) ?? read(kind);
    known.set(kind, found);
    return found;
  };
}

/** Resources that refer to one. Only kinds that may do so are read. */
async function usersIn(tx: ResourceTransaction, ref: ResourceRef): Promise<ResourceRef[]> {
  if (ref.kind === 'Workspace') {
    const inside = await tx.refsIn(ref.name);
    // Keys of other workspaces may be granted this one.
    return inside.length > 0 ? inside : usersOf(ref, await tx.list(API_KEY));
  }
  const kind = USED_BY[ref.kind];
  return kind === undefined ? [] : usersOf(ref, await tx.list(kind));
}

/** Without those that are being deleted. */
async function existing(tx: ResourceTransaction, kind: string): Promise<ResourceRecord[]> {
  return (await tx.list(kind)).filter(({ deletedAt }) => deletedAt === null);
}
