import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request as send } from 'undici';
import type { KubeAccess } from '../../../kube/access/kube-access.js';
import { KubeClient } from '../../../kube/kube-client.js';
import { MemoryApiServer } from '../../../kube/memory-api-server.fixture.js';
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

/** A namespace of a cluster with a stand-in for its kubelet; cleared after the test. */
export class KubernetesGround implements RunnerGround {
  readonly faults: Error[] = [];
  readonly kubelet: FakeKubelet;
  readonly client: KubeClient;

  constructor(
    /** Of the runner: as given, with the logs of pods from the kubelet. */
    readonly access: KubeAccess,
    readonly namespace: string,
    readonly finish: () => Promise<void>,
  ) {
    this.client = new KubeClient(access);
    this.kubelet = new FakeKubelet(this.client, namespace);
  }

  /** In memory. */
  static async inMemory(): Promise<KubernetesGround & { server: MemoryApiServer }> {
    const server = await MemoryApiServer.start();
    const ground = new KubernetesGround(server.access, 'default', () => server.close());
    server.podLog = (pod, query, response) => ground.kubelet.serveLog(pod, query, response);
    await ground.kubelet.synced;
    return Object.assign(ground, { server });
  }

  /** In a real cluster. Logs do not pass its API server, which has no kubelet to call. */
  static async inCluster(access: KubeAccess, namespace: string): Promise<KubernetesGround> {
    let ground: KubernetesGround | null = null;
    const agent = new Agent({ connect: { rejectUnauthorized: !access.skipsTlsVerify, ca: access.ca ?? undefined } });
    const { authorization } = await access.credentials.read(false);
    const proxy: Server = createServer((incoming, response) => {
      const url = new URL(incoming.url ?? '/', 'http://kube');
      const identity = incoming.headers.authorization ?? authorization;
      const pod = /\/pods\/([^/]+)\/log$/.exec(url.pathname)?.[1];
      const isLog = pod !== undefined;
      if (isLog && identity === authorization) return ground!.kubelet.serveLog(pod, url.searchParams, response);
      const over = new AbortController();
      response.on('close', () => over.abort());
      const { 'content-type': contentType } = incoming.headers;
      send(`${access.server}${incoming.url}`, {
        method: incoming.method as 'GET',
        headers: {
          ...(identity === null ? {} : { authorization: identity }),
          ...(contentType === undefined ? {} : { 'content-type': contentType }),
        },
        body: incoming.method === 'GET' ? null : incoming,
        dispatcher: agent,
        signal: over.signal,
        bodyTimeout: 0,
      }).then(
        async ({ body, headers, statusCode }) => {
          // Allowed, and there is no kubelet to call.
          if (isLog && statusCode !== 403) {
            await body.dump();
            return ground!.kubelet.serveLog(pod, url.searchParams, response);
          }
          response.writeHead(statusCode, { 'content-type': String(headers['content-type']) }).flushHeaders();
          body.on('error', () => response.destroy()).pipe(response);
        },
        () => response.destroy(),
      );
      return undefined;
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const near = {
      ...access,
      server: `http://127.0.0.1:${port}`,
      credentials: { read: async () => ({ authorization: null }) },
    };
    ground = new KubernetesGround(near, namespace, async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await agent.destroy();
    });
    await ground.kubelet.synced;
    return ground;
  }

  open(change: Partial<KubernetesRunnerOptions> = {}): Promise<KubernetesRunner> {
    return KubernetesRunner.open({
      cluster: 'k8s',
      settings: { kubernetes: { namespace: this.namespace, nodeSelector: NODE_SELECTOR } },
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
    const { items } = await this.client.json<{ items: { metadata: { name: string } }[] }>(
      this.deployment('').slice(0, -1),
    );
    for (const { metadata } of items) await this.client.json(this.deployment(metadata.name), { method: 'DELETE' });
    await this.kubelet.close();
    const pods = `/api/v1/namespaces/${this.namespace}/pods`;
    const left = await this.client.json<typeof items extends unknown ? { items: typeof items } : never>(pods);
    for (const { metadata } of left.items) {
      await this.client
        .json(`${pods}/${metadata.name}`, { method: 'DELETE', body: { gracePeriodSeconds: 0 } })
        .catch(() => {});
    }
    await this.client.close();
    await this.finish();
  }
}

/** Polls what no event reports. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
