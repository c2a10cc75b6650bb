import { notReached } from '../../../kube/errors.js';
import type { KubeClient } from '../../../kube/kube-client.js';
import { DEPLOYMENTS, KUBE_EVENTS, PODS } from '../../../kube/kube-kind.js';
import { ListWatch, type WatchTiming } from '../../../kube/watch/list-watch.js';
import type { ClusterCalls } from './cluster-calls.js';
import type { Deployment, ReplicaPod } from './manifests/deployment.js';
import { REPLICA_LABEL, START_LABEL } from './manifests/replica-labels.js';
import { isPodOf } from './pod-state.js';
import { POD_WARNINGS, type PodEvent, PodWarnings } from './pod-warnings.js';

export interface ClusterWatchParts {
  readonly client: KubeClient;
  readonly calls: ClusterCalls;
  /** Of Deployments and pods. */
  readonly labelSelector: string;
  readonly timing: Partial<WatchTiming>;
  /** A Deployment, a pod or a warning has changed. */
  readonly changed: () => void;
}

/** How long the first lists may take. */
const OPEN_MS = 20_000;

/** The Deployments of replicas, their pods and the warnings about them, as the API server reports them. */
export class ClusterWatch {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #deployments: ListWatch<Deployment>;
  readonly #pods: ListWatch<ReplicaPod>;
  readonly #events: ListWatch<PodEvent>;
  readonly warnings = new PodWarnings(() => this.#events.cache.values());

  constructor({ calls, changed, client, labelSelector, timing }: ClusterWatchParts) {
    this.#client = client;
    this.#namespace = calls.namespace;
    this.#deployments = new ListWatch({ client, path: calls.pathOf(DEPLOYMENTS), labelSelector, timing, changed });
    this.#pods = new ListWatch({ client, path: calls.pathOf(PODS), labelSelector, timing, changed });
    this.#events = new ListWatch({
      ...{ client, path: calls.pathOf(KUBE_EVENTS), fieldSelector: POD_WARNINGS, timing },
      changed: () => {
        this.warnings.changed();
        changed();
      },
    });
  }

  /** Whether Deployments and pods have been listed. Replicas run without their events. */
  get isListed(): boolean {
    return this.#deployments.isListed && this.#pods.isListed;
  }

  /** Why what was seen may be out of date. */
  get problems(): string[] {
    return [this.#deployments, this.#pods, this.#events].flatMap(({ problem }) => problem ?? []);
  }

  deployments(): Iterable<Deployment> {
    return this.#deployments.cache.values();
  }

  deployment(name: string): Deployment | undefined {
    return this.#deployments.cache.get(this.#namespace, name);
  }

  pods(): Iterable<ReplicaPod> {
    return this.#pods.cache.values();
  }

  /** Finds the pods of a replica and of its start. */
  podsByReplica(): (id: string, startedAt: number) => readonly ReplicaPod[] {
    const found = new Map<string, ReplicaPod[]>();
    for (const pod of this.pods()) {
      const { [REPLICA_LABEL]: id = '', [START_LABEL]: start } = pod.metadata.labels ?? {};
      if (isPodOf(pod, id)) found.set(`${id} ${start}`, [...(found.get(`${id} ${start}`) ?? []), pod]);
    }
    return (id, startedAt) => found.get(`${id} ${startedAt}`) ?? [];
  }

  /** Resolves after the first lists. Throws when the cluster cannot be reached or refuses them. */
  async synced(): Promise<void> {
    const both = Promise.all([this.#deployments.synced, this.#pods.synced]);
    const until = Date.now() + OPEN_MS;
    for (let isDone = false; !isDone; ) {
      let timer: NodeJS.Timeout | undefined;
      const tick = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), 100);
      });
      isDone = await Promise.race([both.then(() => true), tick]);
      clearTimeout(timer);
      const problem = this.#deployments.problem ?? this.#pods.problem;
      if (isDone) return;
      if (problem !== null || Date.now() > until) {
        throw notReached(this.#client.access.server, problem ?? 'the first list takes too long');
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#deployments, this.#pods, this.#events].map((watch) => watch.close()));
  }
}
