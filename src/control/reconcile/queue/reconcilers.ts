import { InputError, RunError } from '../../../kernel/errors.js';
import { Turns } from '../../../kernel/turns.js';
import { isStoreFailure } from '../../../store/database/errors.js';
import type { ResourceChange, ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import { kindNamed } from '../../resources/kinds.js';
import type { Status } from '../../resources/resource.js';
import type { ControlStore } from '../../store/control-store.js';
import { refersTo } from '../../store/references.js';
import { ChangePoll } from './change-poll.js';
import type { Reconciler } from './reconciler.js';
import { keyRef, refKey } from './ref-key.js';
import type { Timing } from './timing.js';
import { unreadyStatus } from './unready-status.js';
import { WorkQueue } from './work-queue.js';

export interface ReconcilersOptions {
  readonly store: ControlStore;
  readonly reconcilers: readonly Reconciler[];
  readonly timing: Timing;
  /** Called with errors that are not caused by a resource, and once when the store begins to fail. */
  readonly onFault: (error: unknown) => void;
  /** Whether the status of a resource is written by another process and has effects here; null: there is no other process. */
  readonly followsStatus?: (record: ResourceRecord) => boolean;
  /** Whether this process writes the status of a resource. Problems with others are faults: another process reports them. */
  readonly reports?: (record: ResourceRecord) => boolean;
}

/** Kinds with routes, which end when the resource is removed. */
const ROUTED_KINDS = ['Endpoint', 'ExternalEndpoint'];

/** Resources without haste that are reconciled at the same time after a start: fewer than the queue runs. */
const SOME = 32;

/** Reconciles every resource that changes, and the endpoints that depend on it. */
export class Reconcilers {
  readonly #queue: WorkQueue;
  readonly #reconcilers: ReadonlyMap<string, Reconciler>;
  readonly #options: ReconcilersOptions;
  readonly #poll: ChangePoll | null;
  #stop: () => void = () => {};
  #isStoreFailing = false;
  #isClosed = false;
  #rest: Promise<void> = Promise.resolve();

  constructor(options: ReconcilersOptions) {
    this.#options = options;
    this.#reconcilers = new Map(options.reconcilers.map((one) => [one.kind, one]));
    this.#queue = new WorkQueue({
      timing: options.timing,
      work: (key) => this.#work(key),
      onFailure: (key, error) => this.#failed(key, error),
    });
    const { followsStatus, store, timing } = options;
    this.#poll =
      followsStatus === undefined
        ? null
        : new ChangePoll({
            ...{ resources: store.resources, timing, kinds: ROUTED_KINDS },
            changing: [...this.#reconcilers.keys()],
            changed: (record, isStatus) => {
              if (!isStatus) this.#changedSpec(record);
              else if (followsStatus(record)) this.enqueue(record);
            },
            removed: (ref) => this.enqueue(ref),
          });
  }

  /**
   * Restores routes, then reconciles resources, and from now on those that change. Resolves when those whose routes are
   * not known yet are queued: `settled` waits for them, and for no others.
   */
  async start(): Promise<void> {
    const { store } = this.#options;
    this.#stop = store.resources.watch((changes) => {
      for (const change of changes) this.#changed(change);
    });
    const version = this.#poll === null ? 0 : await store.resources.version();
    const present: ResourceRef[] = [];
    const later: ResourceRef[] = [];
    for (const reconciler of this.#reconcilers.values()) {
      if (reconciler.restore === undefined) continue;
      const turns = new Turns();
      for await (const record of store.resources.each(reconciler.kind)) {
        await turns.next();
        const ref = { kind: record.kind, workspace: record.workspace, name: record.name };
        if (this.#poll !== null) present.push(ref);
        const needs = reconciler.restore(record);
        if (needs === 'now') this.enqueue(ref);
        else if (needs === 'later') later.push(ref);
      }
    }
    this.#poll?.start(version, present);
    this.#rest = this.#reconcileRest(later).catch((error) => {
      if (!this.#isClosed) this.#options.onFault(error);
    });
  }

  /** Some at a time, so that a change meanwhile does not wait for all of them. */
  async #reconcileRest(restored: readonly ResourceRef[]): Promise<void> {
    const some = new Set<string>();
    const reconciled = async () => {
      for (const key of some) this.enqueueKey(key);
      await this.#queue.ended((key) => some.has(key));
      some.clear();
    };
    for await (const ref of this.#others(restored)) {
      if (this.#isClosed) return;
      some.add(refKey(ref));
      if (some.size === SOME) await reconciled();
    }
    await reconciled();
  }

  async *#others(restored: readonly ResourceRef[]): AsyncGenerator<ResourceRef> {
    for await (const ref of this.#options.store.resources.eachRef()) {
      const reconciler = this.#reconcilers.get(ref.kind);
      if (reconciler !== undefined && reconciler.restore === undefined) yield ref;
    }
    yield* restored;
  }

  /** Reconciles all resources again. */
  async enqueueAll(): Promise<void> {
    for await (const ref of this.#options.store.resources.eachRef()) this.enqueue(ref);
  }

  enqueue(ref: ResourceRef): void {
    this.enqueueKey(refKey(ref));
  }

  enqueueKey(key: string): void {
    this.#queue.add(key);
  }

  /** Resolves when the current runs of a kind have ended. */
  settled(kind: string): Promise<void> {
    return this.#queue.ended((key) => keyRef(key).kind === kind);
  }

  /** Starts no more runs; resolves when current ones have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    this.#poll?.close();
    await this.#queue.close();
    await this.#rest;
  }

  #changed(change: ResourceChange): void {
    this.#poll?.own(change);
    // A status is the result of a run.
    if (change.type !== 'status') this.#changedSpec(change.record);
  }

  #changedSpec(record: ResourceRecord): void {
    this.enqueue(record);
    void this.#enqueueDependents(record).catch((error) => this.#failed(refKey(record), error));
  }

  async #enqueueDependents(ref: ResourceRef): Promise<void> {
    if (ref.kind !== 'Engine' && ref.kind !== 'Cluster' && ref.kind !== 'ModelRegistry') return;
    for await (const one of this.#options.store.resources.each('Endpoint')) if (refersTo(one, ref)) this.enqueue(one);
  }

  async #work(key: string): Promise<number | null> {
    const ref = keyRef(key);
    const reconciler = this.#reconcilers.get(ref.kind);
    if (reconciler === undefined) return null;
    const waitMs = await reconciler.reconcile(ref);
    this.#isStoreFailing = false;
    return waitMs;
  }

  /** Errors in resources go to their status; bugs are reported as faults. */
  #failed(key: string, error: unknown): void {
    if (isStoreFailure(error)) {
      // No status can be written; one fault is reported for all.
      if (!this.#isStoreFailing) this.#options.onFault(error);
      this.#isStoreFailing = true;
      return;
    }
    const isBug = !(error instanceof InputError || error instanceof RunError);
    if (isBug) this.#options.onFault(error);
    void this.#report(keyRef(key), error as Error, isBug).catch(() => {});
  }

  async #report(ref: ResourceRef, error: Error, isFault: boolean): Promise<void> {
    const { message } = error;
    const { onFault, reports = () => true, store } = this.#options;
    const record = await store.resources.get(ref);
    if (record !== null && !reports(record)) {
      if (!isFault) onFault(error);
      return;
    }
    if (record === null || !kindNamed(ref.kind, ref.kind).phases.includes('Failed')) return;
    const before = record.status as Status | null;
    const phase = record.deletedAt === null ? 'Failed' : 'Deleting';
    const now = new Date(this.#options.timing.now()).toISOString();
    const status = unreadyStatus(before, phase, message, now);
    await store.putStatus(ref, record.uid, { ...status, observed_generation: record.generation });
    await store.events.add(record, 'warning', 'Failed', message);
  }
}
