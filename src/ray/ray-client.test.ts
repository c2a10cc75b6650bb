import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { RayClient } from './ray-client.js';
import { RayJobs } from './ray-jobs.js';
import { readNodes, readUse } from './ray-nodes.js';
import { httpTransport } from './ray-transport.js';

let server: Server | null = null;
let client: RayClient | null = null;

afterEach(async () => {
  await client?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(null));
  server = null;
});

type Respond = (request: IncomingMessage, response: ServerResponse) => unknown;

async function clientOf(respond: Respond, token: string | null = null): Promise<RayClient> {
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new RayClient(url, httpTransport({ url, token, caFile: null }));
  return client;
}

const problem = (code: string, text: string) => ({ code, message: expect.stringContaining(text) as string });

test('sends the token, and says where it was refused without repeating it', async () => {
  const seen: (string | undefined)[] = [];
  const one = await clientOf((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401).end('Unauthorized');
  }, 'hush-hush');
  const error = await new RayJobs(one).list().catch((thrown: Error) => thrown as Error & { code: string });
  expect(error).toMatchObject(problem('RAY_TOKEN', "refuses the token; set 'token' of the Cluster"));
  expect(JSON.stringify([error, (error as Error).message])).not.toContain('hush-hush');
  expect(seen).toEqual(['Bearer hush-hush']);
});

test('does not follow redirects, which could carry the token elsewhere', async () => {
  const paths: string[] = [];
  const one = await clientOf((request, response) => {
    paths.push(request.url!);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  await expect(new RayJobs(one).list()).rejects.toMatchObject({ code: 'RAY_STATUS', status: 302 });
  expect(paths).toEqual(['/api/jobs/']);
});

test('reports a dashboard that cannot be reached, and one behind a proxy that is away', async () => {
  const one = new RayClient(
    'http://127.0.0.1:1',
    httpTransport({ url: 'http://127.0.0.1:1', token: null, caFile: null }),
  );
  await expect(one.json({ path: '/' })).rejects.toMatchObject(problem('RAY_NOT_REACHED', 'ECONNREFUSED'));
  await one.close();
  const proxied = await clientOf((_, response) => response.writeHead(502).end());
  await expect(proxied.json({ path: '/' })).rejects.toMatchObject(problem('RAY_NOT_REACHED', 'status 502'));
});

test('ends a request without a response, and a response that does not end', async () => {
  const silent = await clientOf((request, response) => request.url === '/half' && response.write('['));
  await expect(silent.json({ path: '/', timeoutMs: 20 })).rejects.toMatchObject(
    problem('RAY_NOT_REACHED', 'no response in time'),
  );
  await expect(silent.json({ path: '/half', timeoutMs: 50 })).rejects.toMatchObject(
    problem('RAY_NOT_REACHED', 'no response in time'),
  );
});

test('refuses a response that is too long, without reading all of it', async () => {
  let isEnded = false;
  const one = await clientOf((_, response) => {
    const more = () => {
      while (!isEnded && response.write('x'.repeat(2 ** 16)));
    };
    response.on('drain', more).on('close', () => {
      isEnded = true;
    });
    more();
  });
  await expect(one.json({ path: '/api/jobs/', mostBytes: 2 ** 20 })).rejects.toMatchObject(
    problem('RAY_RESPONSE', 'the response to /api/jobs/ is longer than 1 MiB'),
  );
  while (!isEnded) await new Promise((resolve) => setImmediate(resolve));
});

test('tells a Ray dashboard from another server', async () => {
  const html = await clientOf((_, response) => response.end('<html>'));
  await expect(new RayJobs(html).version()).rejects.toMatchObject(problem('RAY_RESPONSE', "check 'url'"));
  await expect(new RayJobs(html).list()).rejects.toMatchObject({ code: 'RAY_RESPONSE' });
});

test('shows the last line of a traceback', async () => {
  const one = await clientOf((_, response) =>
    response.writeHead(500).end('Traceback:\n  File "x.py"\nValueError: no such thing\n.\n'),
  );
  await expect(new RayJobs(one).stop('a')).rejects.toThrow('/api/jobs/a/stop: ValueError: no such thing');
});

test('submits a job again without starting it twice', async () => {
  const bodies: string[] = [];
  const one = await clientOf((request, response) => {
    if (request.method !== 'POST') return response.writeHead(404).end();
    bodies.push(request.url!);
    const text = 'ValueError: Job with submission_id a already exists. Please use a different submission_id.\n.';
    return bodies.length === 1 ? request.socket.destroy() : response.writeHead(500).end(text);
  });
  const job = { submissionId: 'a', entrypoint: 'true', metadata: {}, runtimeEnv: {}, resources: {}, labels: {} };
  const submit = () => new RayJobs(one).submit({ ...job, cpus: 0, gpus: 0, memoryBytes: 0 });
  await expect(submit()).rejects.toMatchObject({ code: 'RAY_NOT_REACHED' });
  await submit();
});

test('reads nodes that are alive, their product and what is in use', async () => {
  const node = (node_id: string, node_ip: string, state: string, resources_total: object, labels: object) => ({
    ...{ node_id, node_ip, state, resources_total, labels },
  });
  const one = await clientOf((request, response) => {
    const nodes = [
      node('b', '10.0.0.2', 'ALIVE', { CPU: 8, GPU: 2, memory: 5, 'accelerator_type:H100': 1 }, {}),
      node('a', '10.0.0.1', 'ALIVE', { CPU: 4, GPU: 1 }, { 'ray.io/accelerator-type': 'L4' }),
      node('c', '10.0.0.3', 'DEAD', { CPU: 4 }, {}),
    ];
    const usageByNode = { b: { CPU: [1.5, 8], GPU: [0.25, 2] } };
    const status = { clusterStatus: { time: 12.5, loadMetricsReport: { usageByNode } } };
    const isNodes = request.url!.startsWith('/api/v0/nodes');
    response.end(JSON.stringify({ data: isNodes ? { result: { result: nodes } } : status }));
  });
  expect(await readNodes(one)).toEqual([
    { id: 'a', address: '10.0.0.1', cpus: 4, memoryBytes: 0, gpus: 1, product: 'L4', productResource: null },
    {
      ...{ id: 'b', address: '10.0.0.2', cpus: 8, memoryBytes: 5, gpus: 2, product: 'H100' },
      productResource: 'accelerator_type:H100',
    },
  ]);
  expect(await readUse(one)).toEqual({
    at: 12_500,
    byNode: new Map([['b', { cpus: 1.5, memoryBytes: 0, gpus: 0.25 }]]),
  });
});
