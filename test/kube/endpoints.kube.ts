import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterwards } from '../support/gateway-fixture.js';
import {
  eventually,
  isMissing,
  KubeLab,
  LAB_KUBECONFIG,
  LabLoad,
  LabProcess,
  PodEngines,
} from '../support/kube-lab.js';
import { type ServeProcess, serveProcess } from '../support/serve-process.js';

interface ShownEndpoint {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly phase: string;
    readonly observed_generation: number;
    readonly replicas: readonly { readonly id: string; readonly phase: string }[];
  };
}

/** A control plane with one cluster and one engine, used through its API. */
class Plane {
  private constructor(
    readonly lab: KubeLab,
    readonly serve: ServeProcess,
  ) {}

  static async start(lab: KubeLab): Promise<Plane> {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-drill-'));
    afterwards(async () => rmSync(folder, { recursive: true }));
    const config = join(folder, 'twinyard.yaml');
    writeFileSync(config, 'store: drill.db\ndata_dir: data\naccess: { keys: off }\n');
    const plane = new Plane(lab, await serveProcess(['-c', config]));
    const kubernetes = { kubeconfig: LAB_KUBECONFIG, namespace: lab.namespace, node_selector: lab.nodeSelector };
    await plane.apply('Cluster', 'lab', { type: 'kubernetes', kubernetes });
    const command = ['engine', '{model}', '--port', '{port}', '{variables...}'];
    const version = { tasks: ['text-generation'], metrics: 'vllm', command, images: { cpu: 'e', nvidia: 'e' } };
    await plane.apply('Engine', 'none', { versions: { v1: version } });
    return plane;
  }

  async apply(kind: string, name: string, spec: object): Promise<void> {
    const body = JSON.stringify({ apiVersion: 'twinyard/v1', kind, metadata: { name }, spec });
    const response = await this.call('POST', 'apply', body);
    if (!response.ok) throw new Error(await response.text());
  }

  call(method: string, path: string, body?: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.serve.token}` };
    return fetch(`${this.serve.adminUrl}/api/v1/${path}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body }),
    });
  }

  declare(replicas: number, seed = 1, gpus = 1): Promise<void> {
    const spec = { cluster: 'lab', engine: { name: 'none' }, model: { name: 'm' }, resources: { gpus } };
    return this.apply('Endpoint', 'chat', { ...spec, replicas, variables: { seed } });
  }

  async endpoint(): Promise<ShownEndpoint | null> {
    const response = await this.call('GET', 'workspaces/default/endpoints/chat');
    return response.status === 404 ? null : ((await response.json()) as ShownEndpoint);
  }

  /** Resolves with the ids of its replicas when there are so many, all ready, and none is left to remove. */
  async settled(replicas: number): Promise<string[]> {
    let ids: string[] = [];
    await eventually(async () => {
      const { metadata, status } = (await this.endpoint())!;
      if (status === undefined || status.observed_generation !== metadata.generation) return false;
      ids = status.replicas.filter(({ phase }) => phase === 'ready').map(({ id }) => id);
      return ids.length === replicas && status.replicas.length === replicas && status.phase === 'Running';
    });
    return ids;
  }
}

const print = (line: string) => process.stderr.write(`${line}\n`);

async function started(net: number): Promise<{ lab: KubeLab; plane: Plane }> {
  const lab = await KubeLab.start();
  await lab.addNode(net);
  const engines = new PodEngines(lab);
  await engines.synced;
  return { lab, plane: await Plane.start(lab) };
}

describe('an endpoint in a real cluster', { timeout: 600_000 }, () => {
  test('is scaled to 5 and to 1, updated and deleted under load, and no request is lost', async () => {
    const { lab, plane } = await started(71);
    await plane.declare(2);
    await plane.settled(2);
    const limits = (await lab.pods()).map(
      ({ spec }) => (spec.containers[0] as { resources?: { limits?: object } }).resources?.limits,
    );
    expect(limits).toEqual([{ 'nvidia.com/gpu': '1' }, { 'nvidia.com/gpu': '1' }]);
    const load = new LabLoad(plane.serve.url);
    await load.more(20);
    await plane.declare(5);
    await plane.settled(5);
    await load.more(20);
    await plane.declare(1);
    const before = await plane.settled(1);
    await load.more(20);
    await plane.declare(2, 2);
    const after = await plane.settled(2);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    await load.more(20);
    await load.end();
    print(`scale 2, 5, 1 and a rollout: ${load.complete} requests, lost ${JSON.stringify(load.lost)}`);
    expect(load.lost).toEqual([]);
    await plane.call('DELETE', 'workspaces/default/endpoints/chat');
    await eventually(async () => (await plane.endpoint()) === null);
    expect(await lab.deployments()).toEqual([]);
    await eventually(async () => (await lab.pods()).length === 0);
  });

  test('waits where it needs more GPUs than there are, and where a quota is exceeded, with the reason', async () => {
    const { lab, plane } = await started(72);
    const problem = async (words: RegExp) =>
      eventually(async () => words.test(JSON.stringify((await plane.endpoint())!.status ?? {})));
    await plane.declare(1, 1, 16);
    await problem(/does not fit: it needs 16 of nvidia\.com\/gpu on one node; the largest node .* has 8 \(8 free\)/);
    // Three of four GPUs each could run here, but not at once.
    await plane.declare(3, 1, 4);
    await problem(/Unschedulable: 0\/\d+ nodes are available.*Insufficient nvidia\.com\/gpu/);
    const quota = `${lab.core}/resourcequotas/none`;
    await lab.apply('v1', 'ResourceQuota', quota, { spec: { hard: { pods: '0' } } });
    await plane.declare(1, 2, 1);
    await problem(/FailedCreate: pods .* is forbidden: exceeded quota: none/);
    await lab.client.json(quota, { method: 'DELETE' });
    await plane.settled(1);
  });

  test('recovers from Deployments that others delete and edit', async () => {
    const { lab, plane } = await started(73);
    await plane.declare(2);
    const [first, second] = await plane.settled(2);
    const load = new LabLoad(plane.serve.url);
    await load.more(20);
    await lab.client.json(`${lab.apps}/deployments/${first}`, { method: 'DELETE' });
    await eventually(() => isMissing(lab.client.json(`${lab.apps}/deployments/${first}`)));
    await eventually(async () => !(await plane.endpoint())!.status!.replicas.some(({ id }) => id === first));
    await plane.settled(2);
    const body = { spec: { replicas: 3, template: { spec: { containers: [{ name: 'engine', image: 'theirs' }] } } } };
    const path = `${lab.apps}/deployments/${second}`;
    const contentType = 'application/strategic-merge-patch+json';
    await lab.client.json(path, { method: 'PATCH', contentType, body });
    interface Seen {
      readonly spec: { replicas: number; template: { spec: { containers: { image: string }[] } } };
    }
    // An edited pod is another pod: the replica ends, and the reconciler starts another.
    await eventually(async () => {
      const all = (await lab.deployments()) as unknown as Seen[];
      const isOurs = ({ spec }: Seen) => spec.replicas <= 1 && spec.template.spec.containers[0]!.image === 'e';
      return all.length > 0 && all.every(isOurs);
    });
    await plane.settled(2);
    await load.more(20);
    await load.end();
    print(`Deployments deleted and edited: ${load.complete} requests, lost ${JSON.stringify(load.lost)}`);
    expect(load.lost).toEqual([]);
  });

  const apiServer = LabProcess.find('apiserver');
  const kwok = LabProcess.find('kwok');
  test.skipIf(apiServer === null)(
    'is served while the API server is away for a minute, and changed after it',
    async () => {
      const { lab, plane } = await started(74);
      await plane.declare(2);
      await plane.settled(2);
      const load = new LabLoad(plane.serve.url);
      await load.more(50);
      await apiServer!.stop();
      await plane.declare(3);
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
      const during = load.complete;
      apiServer!.start();
      await eventually(() =>
        lab.client.json('/api/v1/namespaces/default').then(
          () => true,
          () => false,
        ),
      );
      // It loses its watches with the API server.
      if (kwok !== null) {
        await kwok.stop();
        kwok.start();
      }
      await plane.settled(3);
      await load.more(50);
      await load.end();
      print(
        `API server away for ${AWAY_MS / 1000} s: ${during} requests by its end, ${load.complete} in all, lost ${JSON.stringify(load.lost)}`,
      );
      expect(load.lost).toEqual([]);
    },
  );
});

const AWAY_MS = 60_000;
