import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { ModelRegistrySpec } from '../../resources/kinds/model-registry.js';
import type { Status } from '../../resources/resource.js';
import type { ControlStore } from '../../store/control-store.js';
import { registryOrigin } from '../models/registry-origin.js';
import type { Reconciler } from '../queue/reconciler.js';
import { retryDelay } from '../queue/retry-delay.js';

/** How often the connection to a registry is checked. */
const AGAIN_MS = 60_000;
const LONGEST_LIST = 1000;

/** Reports whether registries can be used. */
export class ModelRegistryReconciler implements Reconciler {
  readonly kind = 'ModelRegistry';
  readonly #failures = new Map<string, number>();
  readonly #ended = new AbortController();

  constructor(private readonly store: ControlStore) {}

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const record = await this.store.resources.get(ref);
    if (record === null) return null;
    if (record.deletedAt !== null) {
      this.#failures.delete(record.uid);
      await this.store.remove(ref, record.uid);
      return null;
    }
    const status = await this.#check(record);
    const before = record.status as Status | null;
    await this.store.putStatus(ref, record.uid, { ...status, observed_generation: record.generation });
    const isFailed = status.phase === 'Failed';
    if (before?.phase !== status.phase || (isFailed && before.message !== status.message)) {
      const text = isFailed ? status.message : connectedText(status.models);
      await this.store.events.add(record, isFailed ? 'warning' : 'normal', status.phase, text);
    }
    const failures = isFailed ? (this.#failures.get(record.uid) ?? 0) + 1 : 0;
    this.#failures.set(record.uid, failures);
    return failures === 0 ? AGAIN_MS : retryDelay(failures);
  }

  /** Ends requests that are under way: a hub may be slow. */
  close(): void {
    this.#ended.abort(new Error('the control plane is closing'));
  }

  async #check(record: ResourceRecord): Promise<{ phase: string; message: string; models?: number }> {
    const spec = this.store.secretsOf(record) as ModelRegistrySpec;
    const { signal } = this.#ended;
    const registry = registryOrigin(record, spec).open();
    try {
      const connection = await registry.connect(signal);
      if (!connection.connected) return { phase: 'Failed', message: connection.problem.message };
      // A hub has too many models to count.
      if (spec.type !== 'file') return { phase: 'Connected', message: '' };
      const { length } = await registry.list({ limit: LONGEST_LIST }, signal);
      return { phase: 'Connected', message: '', models: length };
    } finally {
      await registry.close();
    }
  }
}

const connectedText = (models: number | undefined) =>
  models === undefined ? 'the registry responds' : `the registry lists ${models} ${models === 1 ? 'model' : 'models'}`;
