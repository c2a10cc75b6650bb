import type { KubeClient } from '../kube-client.js';
import { collectionPath, ENDPOINT_SLICES, INFERENCE_POOLS, type KubeKind, PODS } from '../kube-kind.js';
import type { EndpointSlice, InferencePool, KubeObject, Pod } from '../kube-object.js';
import { ListWatch, type WatchTiming } from '../watch/list-watch.js';
import { type KubeReplica, replicasInPods, replicasInSlices } from './found-replicas.js';
import type { KubeTarget } from './kube-target.js';

export interface KubeDiscoveryParts {
  readonly client: KubeClient;
  readonly target: KubeTarget;
  readonly timing?: Partial<WatchTiming>;
  /**
   * Called once after the first list, then whenever the replicas or the problem have changed; changes that arrive together are
   * one call. With a problem the replicas are those seen last.
   */
  readonly found: (replicas: readonly KubeReplica[], problem: string | null) => void;
}

/** Follows the replicas of a target with nothing but the rights to get, list and watch. */
export class KubeDiscovery {
  /** Resolves after the first complete list of what the target names. */
  readonly synced: Promise<void>;
  readonly #parts: KubeDiscoveryParts;
  readonly #namespace: string;
  #isSynced!: () => void;
  #pods: ListWatch<Pod> | null = null;
  #slices: ListWatch<EndpointSlice> | null = null;
  #pool: ListWatch<InferencePool> | null = null;
  /** Of the pool whose pods are followed: selector and ports. */
  #poolFacts: { selector: string; ports: string[] } | null = null;
  #isPlanned = false;
  #isClosed = false;
  #last = '';

  constructor(parts: KubeDiscoveryParts) {
    this.#parts = parts;
    const { by, namespace, value } = parts.target;
    this.#namespace = namespace ?? parts.client.access.namespace;
    this.synced = new Promise((resolve) => {
      this.#isSynced = resolve;
    });
    if (by === 'selector') this.#pods = this.#watchPods(value);
    if (by === 'service') {
      const labelSelector = `kubernetes.io/service-name=${value}`;
      this.#slices = this.#watch(ENDPOINT_SLICES, { labelSelector });
    }
    if (by === 'pool') {
      const fieldSelector = `metadata.name=${value}`;
      this.#pool = this.#watch(INFERENCE_POOLS, { fieldSelector });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#pods, this.#slices, this.#pool].map((watch) => watch?.close()));
  }

  #watchPods(labelSelector: string): ListWatch<Pod> {
    return this.#watch(PODS, { labelSelector });
  }

  #watch<T extends KubeObject>(
    kind: KubeKind,
    selected: { labelSelector: string } | { fieldSelector: string },
  ): ListWatch<T> {
    const { client, timing = {} } = this.#parts;
    const path = collectionPath(kind, this.#namespace);
    const watch = new ListWatch<T>({ client, path, timing, changed: () => this.#plan(), ...selected });
    // A first list without objects changes nothing, and yet it is an answer.
    void watch.synced.then(() => this.#plan());
    return watch;
  }

  /** Events of one moment are gathered: 500 pods that appear together are one change. */
  #plan(): void {
    if (this.#isPlanned || this.#isClosed) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      if (!this.#isClosed) this.#report();
    });
  }

  #report(): void {
    if (this.#pool !== null) this.#followPool(this.#pool);
    const watches = [this.#pool, this.#pods, this.#slices].filter((watch) => watch !== null);
    const problem = watches.map((watch) => watch.problem).find((one) => one !== null) ?? this.#missing();
    const isListed =
      watches.every((watch) => watch.isListed) && (this.#pool === null || problem !== null || this.#pods !== null);
    if (!isListed && problem === null) return;
    const replicas = this.#replicas();
    const state = JSON.stringify([replicas, problem]);
    if (state === this.#last) return;
    this.#last = state;
    this.#parts.found(replicas, problem);
    if (isListed) this.#isSynced();
  }

  #replicas(): KubeReplica[] {
    const { ports } = this.#parts.target;
    if (this.#slices !== null) return replicasInSlices(this.#slices.cache.values(), ports);
    return replicasInPods(this.#pods?.cache.values() ?? [], this.#poolFacts?.ports ?? ports);
  }

  /** A new selector of the pool needs a new watch of pods. */
  #followPool(pool: ListWatch<InferencePool>): void {
    const [found] = pool.cache.values();
    if (found === undefined) return;
    const { selector, targetPorts } = found.spec;
    const labels = Object.entries(selector.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`);
    const facts = { selector: labels.join(','), ports: targetPorts.map(({ number }) => String(number)) };
    const before = this.#poolFacts;
    this.#poolFacts = facts;
    if (before?.selector === facts.selector && this.#pods !== null) return;
    void this.#pods?.close();
    this.#pods = this.#watchPods(facts.selector);
  }

  /** A pool that does not exist is a mistake more often than a plan. */
  #missing(): string | null {
    const { target } = this.#parts;
    if (this.#pool === null || !this.#pool.isListed || this.#pool.cache.size > 0) return null;
    return `InferencePool '${target.value}' does not exist in namespace '${this.#namespace}'`;
  }
}
