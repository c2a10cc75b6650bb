import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pidsWith } from '../src/control/runner/ray/ray-ground.fixture.js';
import { RayClient } from '../src/ray/ray-client.js';
import { RayJobs } from '../src/ray/ray-jobs.js';
import { httpTransport } from '../src/ray/ray-transport.js';
import { DrillClients } from './support/drill-clients.js';
import { RayLab } from './support/ray-lab.js';
import { CHAT, PACE_MS, RayYard } from './support/ray-yard.js';

/** The command of an installed Ray: `npm run test:ray` installs one. Skipped without it. */
const RAY = process.env.TWINYARD_TEST_RAY;
const CLIENTS = 8;
const AWAY_MS = 60_000;
const [HEAD, NODE] = ['127.0.0.2', '127.0.0.3'];
vi.setConfig({ testTimeout: 1_200_000, hookTimeout: 300_000 });

/** Kills the engine of a replica. */
function killEngine(id: string): void {
  for (const pid of pidsWith(`TWINYARD_RAY_JOB=twinyard-machines-${id}-`)) process.kill(pid, 'SIGKILL');
}

describe.skipIf(RAY === undefined)('an endpoint on a real Ray cluster', () => {
  let lab: RayLab;
  let yard: RayYard;
  let jobs: RayJobs;

  beforeAll(async () => {
    lab = await RayLab.start(RAY!, { address: HEAD, gpus: 2 });
    await lab.addNode({ address: NODE, gpus: 2, labels: 'ray.io/accelerator-type=L4' });
    yard = new RayYard(lab);
    jobs = new RayJobs(new RayClient(lab.url, httpTransport({ url: lab.url, token: null, caFile: null })));
  });

  afterAll(async () => {
    await lab.stop();
    rmSync(yard.folder, { recursive: true, force: true });
  });

  test('serves through scaling, an update, a crash and the loss of a node: only streams of lost replicas end, each told', async () => {
    await yard.start();
    await yard.declare(3, 1);
    await yard.settled(3);
    const cluster = (await yard.call('GET', 'clusters/machines')).text;
    expect(JSON.parse(cluster)).toMatchObject({
      status: {
        phase: 'Ready',
        nodes: [
          { name: HEAD, gpus: 2, free_gpus: 2, product: null },
          { name: NODE, gpus: 2, free_gpus: 2, product: 'L4' },
        ],
      },
    });
    const clients = new DrillClients(yard.serve.url, CLIENTS);
    await clients.untilMore(20);
    await yard.declare(5, 1);
    await yard.settled(5);
    await clients.untilMore(20);
    await yard.declare(5, 2);
    const updated = await yard.settled(5);
    await clients.untilMore(20);
    const killed = updated[0]!.id;
    while (clients.streaming(killed) === 0) await pause(20);
    killEngine(killed);
    await yard.until(({ replicas }) => replicas.every(({ id }) => id !== killed));
    const onNode = (await yard.settled(5)).filter(({ url }) => url.includes(NODE)).map(({ id }) => id);
    expect(onNode.length).toBeGreaterThan(0);
    while (!onNode.some((id) => clients.streaming(id) > 0)) await pause(20);
    lab.killNode(NODE);
    await yard.until(({ replicas }) => replicas.every(({ id }) => !onNode.includes(id)));
    const left = await yard.settled(5);
    expect(left.every(({ url }) => url.includes(HEAD))).toBe(true);
    await clients.untilMore(20);
    await yard.declare(1, 2);
    await yard.settled(1);
    await clients.untilMore(20);
    await clients.untilBegun();
    const rest = clients.rest();
    await yard.call('DELETE', CHAT);
    await rest;
    while ((await yard.call('GET', CHAT)).status !== 404) await pause(PACE_MS);
    console.log(`drill: ${JSON.stringify(clients.counts)}`);
    const { complete, told = 0, ...others } = clients.counts;
    expect(others).toEqual({});
    expect(complete).toBeGreaterThanOrEqual(120);
    expect(told).toBeGreaterThanOrEqual(2);
    const lost = [killed, ...onNode];
    expect(clients.ends.filter(({ end, replica }) => end === 'told' && !lost.includes(replica!))).toEqual([]);
    // Finished jobs are deleted, and no process is left.
    while ((await jobs.list()).length > 0) await pause(PACE_MS);
    expect(pidsWith('TWINYARD_RAY_JOB=twinyard-machines-')).toEqual([]);
  });

  test('routes by the policy of the endpoint', async () => {
    if (!lab.hasNode(NODE)) await lab.addNode({ address: NODE, gpus: 2, labels: 'ray.io/accelerator-type=L4' });
    await yard.start();
    await yard.declare(3, 1, 'round-robin');
    const replicas = (await yard.settled(3)).map(({ id }) => id).sort();
    const inTurn: string[] = [];
    for (let i = 0; i < 6; i++) inTurn.push(await yard.replicaOf('the same prompt'));
    expect(replicas.map((id) => inTurn.filter((one) => one === id).length)).toEqual([2, 2, 2]);
    await yard.declare(3, 1, 'chwbl');
    await yard.until(({ observed_generation }) => observed_generation === 2);
    const byPrompt = new Set<string>();
    for (let prompt = 0; prompt < 12; prompt++) {
      const first = await yard.replicaOf(`prompt ${prompt}`);
      expect(await yard.replicaOf(`prompt ${prompt}`)).toBe(first);
      byPrompt.add(first);
    }
    expect(byPrompt.size).toBeGreaterThan(1);
  });

  test('serves on while the dashboard is away for a minute, and says so', async () => {
    await yard.start();
    const before = await yard.settled(3);
    const clients = new DrillClients(yard.serve.url, 2);
    lab.signalDashboard('SIGSTOP');
    const awaySince = performance.now();
    try {
      const { message } = await yard.until(({ phase }) => phase === 'Failed', 'clusters/machines');
      expect(message).toContain('the Ray dashboard cannot be reached');
      while (performance.now() < awaySince + AWAY_MS) await clients.untilMore(10);
      expect((await yard.shown()).status).toMatchObject({ phase: 'Running', ready: 3 });
    } finally {
      lab.signalDashboard('SIGCONT');
    }
    await yard.until(({ phase }) => phase === 'Ready', 'clusters/machines');
    await clients.rest();
    expect(Object.keys(clients.counts)).toEqual(['complete']);
    expect(await yard.settled(3)).toEqual(before);
  });

  test('hands replicas to another control plane', async () => {
    await yard.start();
    const before = await yard.settled(3);
    yard.serve.child.kill('SIGKILL');
    await yard.serve.ended;
    // Of the first one it has the store and nothing else.
    await yard.start('other');
    expect(await yard.settled(3)).toEqual(before);
    expect((await jobs.list()).length).toBe(3);
  });

  test('starts again what a restarted head has forgotten', async () => {
    await yard.start('other');
    const before = (await yard.settled(3)).map(({ id }) => id);
    await lab.killHead();
    // The replica of the other node is served on.
    const { ready } = await yard.until(({ phase }) => phase === 'Degraded');
    expect(ready).toBeGreaterThan(0);
    await yard.replicaOf('still there');
    await lab.startHead();
    await yard.until(({ replicas }) => replicas.every(({ id }) => !before.includes(id)));
    await yard.settled(3);
    await yard.call('DELETE', CHAT);
    while ((await yard.call('GET', CHAT)).status !== 404) await pause(PACE_MS);
  });
});
