import { describe, expect, it, onTestFinished } from 'vitest';
import { eventLine, FakeApiServer, fakeObject, listOf, type Responder } from '../fake-api-server.fixture.js';
import { KubeClient } from '../kube-client.js';
import type { Pod } from '../kube-object.js';
import type { KubeReplica } from './found-replicas.js';
import { KubeDiscovery } from './kube-discovery.js';
import { readKubeTarget } from './kube-target.js';

const pod = (name: string, version: string, more: object = {}): Pod => {
  const { metadata } = fakeObject(name, version);
  const status = { podIP: `10.0.0.${name.length}`, conditions: [{ type: 'Ready', status: 'True' }] };
  return { metadata: { ...metadata, ...more }, spec: { containers: [] }, status };
};

async function discover(text: string, respond: (server: FakeApiServer) => Responder) {
  const server = await FakeApiServer.start(respond);
  const client = new KubeClient(server.access);
  const reports: { ids: string[]; problem: string | null }[] = [];
  const waiting: (() => void)[] = [];
  const discovery = new KubeDiscovery({
    client,
    target: readKubeTarget(text),
    timing: { leastPauseMs: 1, mostPauseMs: 5 },
    found: (replicas: readonly KubeReplica[], problem) => {
      reports.push({ ids: replicas.map(({ id }) => id), problem });
      for (const wake of waiting) wake();
    },
  });
  onTestFinished(async () => {
    await discovery.close();
    await client.close();
    await server.close();
  });
  const until = (isFulfilled: () => boolean) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        if (isFulfilled()) resolve();
      };
      waiting.push(wake);
      wake();
    });
  return { discovery, reports, server, until };
}

const open: Responder = (_, response) => response.flushHeaders();

describe('discovery', () => {
  it('reports pods that come, drain and go', async () => {
    const { discovery, reports, server, until } = await discover('selector=app=vllm', () => (call, response) => {
      if (call.isWatch) open(call, response);
      else response.end(listOf('1', [pod('a', '1')]));
    });
    await discovery.synced;
    await server.until(() => server.watches.length === 1);
    const [watch] = server.watches;
    watch!.write(eventLine('ADDED', pod('bb', '2')));
    await until(() => reports.length === 2);
    watch!.write(eventLine('MODIFIED', pod('a', '3', { deletionTimestamp: '2026-01-01T00:00:00Z' })));
    await until(() => reports.length === 3);
    watch!.write(eventLine('DELETED', pod('a', '4')) + eventLine('DELETED', pod('bb', '5')));
    await until(() => reports.length === 4);
    expect(reports.map(({ ids }) => ids.join())).toEqual(['a.default', 'a.default,bb.default', 'bb.default', '']);
  });

  it('reports many pods that appear together as few changes', async () => {
    const { reports, server, until } = await discover('selector=app=vllm', () => (call, response) => {
      if (call.isWatch) open(call, response);
      else response.end(listOf('1', []));
    });
    await server.until(() => server.watches.length === 1);
    const pods = Array.from({ length: 500 }, (_, i) => eventLine('ADDED', pod(`p${i}`, String(i + 2))));
    server.watches[0]!.write(pods.join(''));
    await until(() => reports.at(-1)!.ids.length === 500);
    expect(reports.length).toBeLessThan(50);
  });

  it('reports that nothing was found, so that serving does not wait', async () => {
    const { discovery, reports } = await discover('service=vllm', () => (call, response) => {
      if (call.isWatch) open(call, response);
      else response.end(listOf('1', []));
    });
    await discovery.synced;
    expect(reports).toEqual([{ ids: [], problem: null }]);
  });

  it('reads the slices of a Service', async () => {
    const { discovery, reports, server } = await discover('service=vllm,namespace=prod', () => (call, response) => {
      const slice = { ...fakeObject('s', '1'), addressType: 'IPv4', ports: [{ port: 8000 }] };
      if (call.isWatch) open(call, response);
      else response.end(listOf('1', [{ ...slice, endpoints: [{ addresses: ['10.0.0.9'] }] } as never]));
    });
    await discovery.synced;
    expect(reports[0]!.ids).toEqual(['10.0.0.9.default']);
    expect(server.calls[0]!.path).toBe('/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices');
    expect(server.calls[0]!.query.get('labelSelector')).toBe('kubernetes.io/service-name=vllm');
  });

  it("follows a pool's selector and ports", async () => {
    const pool = (version: string, app: string, ports: number[]) => ({
      ...fakeObject('chat', version),
      spec: { selector: { matchLabels: { app } }, targetPorts: ports.map((number) => ({ number })) },
    });
    const { reports, server, until } = await discover('pool=chat', () => (call, response) => {
      const app = call.query.get('labelSelector');
      if (call.isWatch) open(call, response);
      else if (call.path.endsWith('/inferencepools')) response.end(listOf('1', [pool('1', 'one', [8000, 8001])]));
      else response.end(listOf('1', [pod(app === 'app=one' ? 'a' : 'bb', '1')]));
    });
    await until(() => reports.at(-1)?.ids.length === 2);
    expect(reports.at(-1)!.ids).toEqual(['a.default:8000', 'a.default:8001']);
    await server.until(() => server.watches.length === 2);
    const ofPools = server.watches.find(({ path }) => path!.endsWith('/inferencepools'))!;
    ofPools.write(eventLine('MODIFIED', pool('2', 'two', [8000])));
    await until(() => reports.at(-1)!.ids.join() === 'bb.default');
  });

  it('says that a pool does not exist', async () => {
    const { reports, until } = await discover('pool=chat', () => (call, response) => {
      if (call.isWatch) open(call, response);
      else response.end(listOf('1', []));
    });
    await until(() => reports.length > 0);
    expect(reports[0]!.problem).toBe("InferencePool 'chat' does not exist in namespace 'default'");
  });

  it('says that the cluster does not have the API of pools', async () => {
    const { reports, until } = await discover('pool=chat', () => (_, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
    });
    await until(() => reports.length > 0);
    expect(reports[0]!.problem).toBe(
      'the cluster does not have inferencepools.inference.networking.k8s.io/v1: install its custom resource definition',
    );
  });
});
