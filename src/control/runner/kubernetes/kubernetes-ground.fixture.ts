import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { KubeAccess } from '../../../kube/access/kube-access.js';
import { KubeClient } from '../../../kube/kube-client.js';
import { ClusterProxy } from '../../../kube/recorded/cluster-proxy.fixture.js';
import { accessAs } from '../../../kube/recorded/recorded-exchange.fixture.js';
import { ReplayApiServer } from '../../../kube/recorded/replay-api-server.fixture.js';
import type { ReplicaHandle, ReplicaSpec } from '../contract.js';
import { type FakeBehaviour, fakeSpec, tellFake } from '../fake-engine.fixture.js';
import type { EngineOrder, RunnerGround } from '../runner.contract.js';
import { FakeKubelet } from './fake-kubelet.fixture.js';
import { KubernetesRunner, type KubernetesRunnerOptions } from './kubernetes-runner.js';

/** What the contract does not require of this runner. */
export const KUBERNETES_EXCEPTIONS = {
  refusals:
    'Kubernetes keeps a pod that does not fit as Pending; the scheduler’s sentence is the problem of the replica',
  'log-positions': 'a line in the log of a pod has a time and no position',
  environment: 'an engine listens on all addresses of its pod, not on the one that the gateway uses',
} as const;

/** No node has it: the scheduler of a real cluster leaves these pods to the kubelet of the fixture. */
const NODE_SELECTOR = { 'twinyard-test': 'none' };

const RECORDINGS = new URL('../../../../test/recorded/kubernetes-runner/', import.meta.url);

/** The file of a test, by its full title. */
export function recordingOf(test: string): string {
  const name = test
    .toLowerCase()
    .replace(/^a real api server > /, '')
    .replace(/[^a-z0-9]+/g, '-');
  return fileURLToPath(new URL(`${name}.jsonl.gz`, RECORDINGS));
}

/** The fake engine and the program that runs it are those of this machine, also in a recording. */
function localTexts(): Record<string, string> {
  const { args, command } = fakeSpec('any');
  return { script: args[1]!, node: command };
}

/** A namespace of a cluster with a stand-in for its kubelet; cleared after the test. */
export class KubernetesGround implements RunnerGround {
  readonly faults: Error[] = [];
  readonly kubelet: FakeKubelet;
  readonly client: KubeClient;
  readonly #kubeletClient: KubeClient;
  isRecorded = false;
  beforeClear = () => {};

  constructor(
    /** Of the runner: as given, with the logs of pods from the kubelet. */
    readonly access: KubeAccess,
    readonly namespace: string,
    readonly finish: () => Promise<void>,
  ) {
    this.client = new KubeClient(accessAs('test', access));
    this.#kubeletClient = new KubeClient(accessAs('kubelet', access));
    this.kubelet = new FakeKubelet(this.#kubeletClient, namespace);
  }

  /** A recording instead of a cluster, made by the same test in a real one. Logs and engines are not recorded. */
  static async recorded(name: string): Promise<KubernetesGround> {
    const server = await ReplayApiServer.start(recordingOf(name), localTexts());
    const ground = new KubernetesGround(server.access, server.namespace, async () => {
      await server.close();
      expect(server.faults, `${recordingOf(name)}: npm run test:kube -- --record makes it again`).toEqual([]);
    });
    ground.isRecorded = true;
    server.podLog = (pod, query, response) => ground.kubelet.serveLog(pod, query, response);
    await ground.kubelet.synced;
    return ground;
  }

  /**
   * In a real cluster. Logs do not pass its API server, which has no kubelet to call.
   * @param record the name of the recording to make
   */
  static async inCluster(access: KubeAccess, namespace: string, record?: string): Promise<KubernetesGround> {
    let ground: KubernetesGround | null = null;
    const proxy = await ClusterProxy.start(access, record === undefined ? null : { namespace });
    proxy.podLog = (pod, query, response) => ground!.kubelet.serveLog(pod, query, response);
    ground = new KubernetesGround(proxy.access, namespace, () => proxy.close());
    ground.beforeClear = () => {
      proxy.recorder?.stop();
      if (record !== undefined) proxy.recorder?.save(recordingOf(record), localTexts());
    };
    await ground.kubelet.synced;
    return ground;
  }

  open(change: Partial<KubernetesRunnerOptions> = {}): Promise<KubernetesRunner> {
    return KubernetesRunner.open({
      cluster: 'k8s',
      settings: { kubernetes: { namespace: this.namespace, nodeSelector: NODE_SELECTOR, addsNodes: true } },
      access: this.access,
      onFault: (error) => this.faults.push(error),
      ...change,
    });
  }

  spec(id: string, behaviour?: FakeBehaviour, change: Partial<ReplicaSpec> = {}): ReplicaSpec {
    return fakeSpec(id, behaviour, { images: { cpu: 'fake', nvidia: 'fake' }, ...change });
  }

  /** The address of a replica may not be known yet where it was started. */
  async tell({ id }: ReplicaHandle, what: EngineOrder): Promise<void> {
    const container = this.kubelet.containerOf(id)!;
    await tellFake({ url: container.url }, what);
    if (typeof what === 'object' && 'say' in what) {
      await until(() => container.lines.includes(what.say));
    }
    if (typeof what === 'object' && 'exit' in what) await until(() => container.process === null);
  }

  async remove({ id }: ReplicaHandle): Promise<void> {
    await this.client.json(this.deployment(id), { method: 'DELETE' });
  }

  deployment(id: string): string {
    return `/apis/apps/v1/namespaces/${this.namespace}/deployments/${id}`;
  }

  async processes(): Promise<number> {
    return (await this.kubelet.processes()).length;
  }

  async clear(): Promise<void> {
    this.beforeClear();
    if (!this.isRecorded) await this.#deleteDeployments();
    await this.kubelet.close();
    if (!this.isRecorded) await this.#deletePods();
    await Promise.all([this.client.close(), this.#kubeletClient.close()]);
    await this.finish();
  }

  async #deleteDeployments(): Promise<void> {
    const { items } = await this.client.json<{ items: { metadata: { name: string } }[] }>(
      this.deployment('').slice(0, -1),
    );
    for (const { metadata } of items) await this.client.json(this.deployment(metadata.name), { method: 'DELETE' });
  }

  async #deletePods(): Promise<void> {
    const pods = `/api/v1/namespaces/${this.namespace}/pods`;
    const left = await this.client.json<{ items: { metadata: { name: string } }[] }>(pods);
    for (const { metadata } of left.items) {
      await this.client
        .json(`${pods}/${metadata.name}`, { method: 'DELETE', body: { gracePeriodSeconds: 0 } })
        .catch(() => {});
    }
  }
}

/** Polls what no event reports. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
