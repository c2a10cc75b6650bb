import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { readSamples } from '../src/protocol/prometheus/read-samples.js';
import { CLI } from './support/cli.js';
import { DrillClients } from './support/drill-clients.js';
import { afterwards } from './support/gateway-fixture.js';
import { type ServeProcess, serveProcess } from './support/serve-process.js';

vi.setConfig({ testTimeout: 900_000 });

const MODEL = 'qwen/qwen3-14b';
const CLIENTS = 16;
const ONE = 'workspaces/default/endpoints/default';

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
type Body = any;

interface Engine {
  readonly url: string;
  readonly child: ChildProcess;
}

/** An emulated engine in a process of its own. */
async function engineProcess(): Promise<Engine> {
  const args = ['engine', '--model', MODEL, '--served-model-name', 'tiny', '--port', '0', '--speed', '4'];
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  afterwards(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /on (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { url, child };
  }
  throw new Error('the engine did not start');
}

/** The API of a gateway. */
function apiOf({ adminUrl, token }: ServeProcess) {
  const headers = { authorization: `Bearer ${token}` };
  return {
    async call(method: string, path: string, body?: object): Promise<Body> {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${adminUrl}/api/v1/${path}`, { method, headers, ...sent });
      const text = await response.text();
      expect(response.ok, `${method} ${path}: ${text}`).toBe(true);
      return JSON.parse(text);
    },
    metrics: async () => readSamples(await (await fetch(`${adminUrl}/metrics`, { headers })).text()),
  };
}

test('shadows, fits, what-if, advice and a guarded switch lose nothing while engines are killed, hang and break off', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-twin-drill-'));
  const engines = await Promise.all(Array.from({ length: 5 }, engineProcess));
  const recording = join(folder, 'traffic.jsonl');
  const serving = await serveProcess([
    ...engines.flatMap(({ url }) => ['--replica', url]),
    ...['--routing-policy', 'round-robin', '--record', recording],
  ]);
  afterwards(async () => rmSync(folder, { recursive: true, force: true }));
  const { call, metrics } = apiOf(serving);
  for (const policy of ['lmetric', 'unified', 'least-loaded'])
    await call('PUT', `${ONE}/shadows/${policy}`, { policy });
  const clients = new DrillClients(serving.url, CLIENTS);
  // A question needs 200 complete streams in the recording; every second request is one.
  await clients.untilMore(800);
  const policy = { policy: 'least-loaded' };
  const guard = { metric: 'errors', most: 1 };
  const guarded = await call('POST', `${ONE}/policy/switch`, { policy, guard, watch: '1h' });

  // One question after the other until the drill is over and each kind has a result.
  let isOver = false;
  const jobs: Body[] = [];
  const has = (kind: string) => jobs.some((job) => job.kind === kind && job.state === 'done');
  const asking = (async () => {
    while (!isOver || !has('whatif') || !has('advice')) {
      const engine = { model: MODEL, runs: 5, last: '1h' };
      const asked = [
        await call('POST', `${ONE}/whatif`, { ...engine, policies: [{ policy: 'lmetric' }] }),
        await call('POST', `${ONE}/advice`, { ...engine, policies: ['lmetric', 'least-loaded'] }),
      ];
      for (const { id } of asked) {
        let job = await call('GET', `jobs/${id}`);
        for (; job.state === 'waiting' || job.state === 'running'; job = await call('GET', `jobs/${id}`))
          await pause(100);
        jobs.push(job);
      }
    }
  })();

  const idOf = async (url: string) => (await call('GET', 'replicas')).items.find((one: Body) => one.url === url).id;
  const killStreaming = async ({ child, url }: Engine) => {
    const id = await idOf(url);
    while (clients.streaming(id) < 1) await pause(5);
    child.kill('SIGKILL');
  };
  const [first, hung, broken, last] = engines.slice(0, 4) as [Engine, Engine, Engine, Engine];
  const faults = (body: object) =>
    fetch(`${broken.url}/admin/faults`, { method: 'POST', body: JSON.stringify(body) }).then((one) => one.text());
  await killStreaming(first);
  await clients.untilMore(150);
  hung.child.kill('SIGSTOP');
  await clients.untilMore(100);
  hung.child.kill('SIGCONT');
  await faults({ disconnect_rate: 0.3 });
  await clients.untilMore(150);
  await faults({ disconnect_rate: 0 });
  await killStreaming(last);
  await clients.untilMore(150);
  while ((await metrics()).sum('twinyard_profile_fits_total') < 1) await pause(200);
  isOver = true;
  await asking;
  // Shadows count from the beginning when the policy changes, so they are read before it goes back.
  const { items: shadows } = await call('GET', `${ONE}/shadows`);
  const decided = shadows.map(({ dropped, on_real_placements }: Body) =>
    on_real_placements.classes.reduce(
      (sum: number, one: Body) => sum + one.same + one.tied + one.different + one.forced,
      dropped,
    ),
  );
  expect([decided.length, Math.min(...decided) > 500]).toEqual([3, true]);
  expect((await call('DELETE', `jobs/${guarded.id}`)).state).toBe('cancelled');
  await clients.rest();

  // A stream that had begun on an engine that fails ends with an error event; everything else is complete.
  const { complete, told = 0, ...others } = clients.counts;
  expect(others).toEqual({});
  expect([complete! > 700, told < complete! / 5]).toEqual([true, true]);
  const failed = new Set(await Promise.all([first, hung, broken, last].map(({ url }) => idOf(url))));
  for (const { end, replica } of clients.ends) if (end === 'told') expect(failed).toContain(replica);

  const samples = await metrics();
  expect([samples.sum('twinyard_faults_total'), samples.sum('twinyard_in_flight')]).toEqual([0, 0]);
  for (const { error, kind, state } of jobs) expect([kind, state, error]).toEqual([kind, 'done', null]);
  const { policy: present } = await call('GET', `${ONE}/live`);
  expect(present.routing.policy).toBe('round-robin');
  serving.child.kill('SIGTERM');
  await serving.ended;
  const lines = readFileSync(recording, 'utf8').trim().split('\n');
  expect(lines.length).toBe(clients.ends.length);
  expect(serving.said()).not.toContain('error, continuing');
});
