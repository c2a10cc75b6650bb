import { findAccess } from '../../../kube/access/find-access.js';
import type { KubeAccess } from '../../../kube/access/kube-access.js';
import { KubeClient } from '../../../kube/kube-client.js';
import type { WatchTiming } from '../../../kube/watch/list-watch.js';
import type {
  ClusterCapacity,
  ClusterSettings,
  LogOptions,
  ReplicaExit,
  ReplicaHandle,
  ReplicaSpec,
  Runner,
  RunnerEvent,
  StopOptions,
} from '../contract.js';
import { isNotLeading, notLeading, notStarted, replicaExists } from '../errors.js';
import { ReplicaTable } from '../replica-table.js';
import { ClusterSize } from './capacity/cluster-size.js';
import { ClusterCalls } from './cluster-calls.js';
import { ClusterWatch } from './cluster-watch.js';
import { foreignDeployment, otherReplicas } from './errors.js';
import { kubernetesSettings } from './kubernetes-settings.js';
import type { Deployment } from './manifests/deployment.js';
import { CLUSTER_UID_LABEL, MANAGED_LABELS, ownLabels, replicaLabels, selectorOf } from './manifests/replica-labels.js';
import { deploymentManifest, renderedDeployment, secretManifest } from './manifests/replica-manifests.js';
import { NO_PROGRESS, type PodReplicaRecord, readDeployment } from './manifests/replica-record.js';
import { PodReplica, type PodReplicaContext } from './pod-replica.js';

export interface KubernetesRunnerOptions {
  /** The name of the Cluster: what the runner has made carries it as a label. */
  readonly cluster: string;
  /** Of the Cluster, carried as a label too: one of the same name in another store is not this one. */
  readonly clusterUid?: string | undefined;
  readonly settings: ClusterSettings;
  readonly scrub?: (line: string) => string;
  readonly onFault?: (error: Error) => void;
  /** By default always; see `RunnerOptions`. */
  readonly mayAct?: () => boolean;
  /** Instead of what the settings name. */
  readonly access?: KubeAccess;
  readonly watchTiming?: Partial<WatchTiming>;
  /** How long a pod may remain after its grace time. */
  readonly killWaitMs?: number;
}

const KILL_WAIT_MS = 30_000;

/** Runs each replica as a Deployment of one pod. All state is in the cluster: the next runner finds it there. */
export class KubernetesRunner implements Runner {
  readonly type = 'kubernetes';
  readonly #options: KubernetesRunnerOptions;
  readonly #client: KubeClient;
  readonly #calls: ClusterCalls;
  readonly #size: ClusterSize;
  readonly #context: PodReplicaContext;
  readonly #replicas = new ReplicaTable<PodReplica>();
  readonly #watch: ClusterWatch;
  #settings: ClusterSettings;

  private constructor(options: KubernetesRunnerOptions) {
    const { kubeconfig, context, namespace } = kubernetesSettings(options.settings);
    const access = options.access ?? findAccess({ kubeconfig, context });
    this.#options = options;
    this.#settings = options.settings;
    this.#client = new KubeClient(access);
    const { cluster, mayAct = () => true, onFault = () => {} } = options;
    this.#calls = new ClusterCalls(this.#client, namespace ?? access.namespace, () => {
      if (!mayAct()) throw notLeading(cluster);
    });
    this.#context = {
      calls: this.#calls,
      killWaitMs: options.killWaitMs ?? KILL_WAIT_MS,
      closed: this.#replicas.closed,
      warningOf: (uid) => this.#watch.warnings.of(uid),
      scrub: options.scrub ?? ((line) => line),
      emit: (event) => this.#replicas.emit(event),
      onFault(error) {
        if (!isNotLeading(error)) onFault(error);
      },
    };
    const labelSelector = selectorOf(ownLabels(options));
    const timing = options.watchTiming ?? {};
    const changed = () => this.#observe();
    this.#watch = new ClusterWatch({ client: this.#client, calls: this.#calls, labelSelector, timing, changed });
    this.#size = new ClusterSize(this.#client, () => this.#watch.pods());
  }

  /** Connects and adopts the replicas in the namespace. Throws when the cluster cannot be reached or refuses the lists. */
  static async open(options: KubernetesRunnerOptions): Promise<KubernetesRunner> {
    const runner = new KubernetesRunner(options);
    try {
      await runner.#watch.synced();
      runner.#observe();
      for (const replica of runner.#replicas.all()) replica.restore();
      return runner;
    } catch (error) {
      await runner.close();
      throw error;
    }
  }

  configure(settings: ClusterSettings): void {
    this.#settings = settings;
  }

  async discover(): Promise<ClusterCapacity> {
    const capacity = await this.#size.read(this.#settings);
    const others = await this.#otherOwners();
    return { ...capacity, problems: [...capacity.problems, ...others, ...this.#watch.problems] };
  }

  async start(spec: ReplicaSpec): Promise<ReplicaHandle> {
    const handle = await this.#replicas.start(spec.id, () => this.#begin(spec));
    this.#observe();
    return handle;
  }

  async list(): Promise<ReplicaHandle[]> {
    return this.#replicas.handles();
  }

  stop(id: string, options: StopOptions): Promise<ReplicaExit | null> {
    return this.#replicas.stop(id, (replica) => replica.stop(options));
  }

  async *logs(id: string, options: LogOptions = {}): AsyncGenerator<string> {
    yield* this.#replicas.get(id).readLog(options);
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    return this.#replicas.watch(listener);
  }

  async close(): Promise<void> {
    if (this.#replicas.closed.aborted) return;
    this.#replicas.close();
    await this.#replicas.settled();
    await Promise.all(this.#replicas.all().map((replica) => replica.release()));
    await this.#watch.close();
    await this.#client.close();
  }

  /** Creates its Deployment and its Secret; on an error neither is left. */
  async #begin(spec: ReplicaSpec): Promise<PodReplica> {
    const { endpoint, generation, id, resources, specHash, startupTimeoutMs, workspace } = spec;
    const startedAt = Date.now();
    const { namespace } = this.#calls;
    const labels = replicaLabels(spec, this.#options, startedAt);
    const settings = kubernetesSettings(this.#settings);
    await this.#size.check(resources, this.#settings);
    const { manifest: rendered, port } = renderedDeployment(spec, settings, { labels, namespace });
    const record: PodReplicaRecord = {
      ...{ id, workspace, endpoint, generation, specHash, resources, startupTimeoutMs, startedAt, port },
    };
    const present = await this.#calls.getDeployment(id);
    if (present !== null) throw this.#isOurs(present) ? replicaExists(id) : foreignDeployment(id, namespace);
    let made: Deployment | null = null;
    try {
      // Without a pod until its Secret is there, which needs the UID of its owner.
      const hasSecrets = Object.keys(spec.secretEnv).length > 0;
      const manifest = deploymentManifest(record, NO_PROGRESS, rendered);
      made = await this.#calls.applyDeployment(id, hasSecrets ? withoutPod(manifest) : manifest);
      if (hasSecrets) {
        await this.#calls.applySecret(id, secretManifest(spec, rendered, port, made.metadata.uid!)!);
        made = await this.#calls.applyDeployment(id, manifest);
      }
      return new PodReplica(record, NO_PROGRESS, rendered, made, this.#context, true);
    } catch (error) {
      if (made !== null) await this.#calls.deleteDeployment(id, made.metadata.uid!).catch(this.#context.onFault);
      throw notStarted(id, (error as Error).message);
    }
  }

  /** Replicas of a Cluster in another store are left alone; if that store is lost, they run until they are deleted by hand. */
  async #otherOwners(): Promise<string[]> {
    const { clusterUid } = this.#options;
    if (clusterUid === undefined) return [];
    const labelSelector = `${selectorOf(MANAGED_LABELS)},${CLUSTER_UID_LABEL},${CLUSTER_UID_LABEL}!=${clusterUid}`;
    const hasSome = await this.#calls.hasDeployments(labelSelector);
    return hasSome ? [otherReplicas(this.#calls.namespace, labelSelector)] : [];
  }

  #isOurs({ metadata: { labels = {} } }: Deployment): boolean {
    return Object.entries(ownLabels(this.#options)).every(([name, value]) => labels[name] === value);
  }

  #observe(): void {
    if (this.#replicas.closed.aborted || !this.#watch.isListed) return;
    const podsOf = this.#watch.podsByReplica();
    for (const deployment of this.#watch.deployments()) this.#adopt(deployment);
    for (const replica of this.#replicas.all()) {
      const { id, startedAt } = replica.record;
      replica.observe(this.#watch.deployment(id), podsOf(id, startedAt));
    }
  }

  /** Also those that another control plane starts while this one stands by. */
  #adopt(deployment: Deployment): void {
    const { deletionTimestamp, name } = deployment.metadata;
    if (this.#replicas.isTaken(name) || deletionTimestamp !== undefined) return;
    const found = readDeployment(deployment);
    if (found === null || found.record.id !== name) return;
    const { namespace } = this.#calls;
    const rendered = { ...found.rendered, metadata: { ...found.rendered.metadata, name, namespace } };
    const replica = new PodReplica(found.record, found.progress, rendered, deployment, this.#context, false);
    this.#replicas.adopt(name, replica);
    if (found.progress.ending !== null) replica.terminate(found.progress.ending, 0);
    this.#context.emit({ type: 'started', replica: replica.handle });
  }
}

function withoutPod(manifest: object): object {
  const { spec, ...rest } = manifest as { spec: object };
  return { ...rest, spec: { ...spec, replicas: 0 } };
}
