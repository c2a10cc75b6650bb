import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { profileText } from '../src/replica/latency/profile-file.js';
import { documentJson } from '../src/report/text/document-json.js';
import { PROFILE, recordingOf, served } from '../src/twin/whatif/recorded-run.fixture.js';
import { CLI } from './support/cli.js';
import { type ServeProcess, serveProcess } from './support/serve-process.js';

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
type Body = any;

const folder = mkdtempSync(join(tmpdir(), 'twinyard-lab-test-'));
const recording = recordingOf(served({ requests: 200 }, { routing: { policy: 'round-robin', options: {} } }));
const FLEET = { model: 'qwen/qwen3-14b', replicas: 3 };
const POLICIES = ['round-robin', 'lmetric'];
const LAB = 'workspaces/default/lab';
let server: ServeProcess;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const path = join(folder, 'traffic.jsonl');
  // As a file that was rotated: the gateway writes its own.
  writeFileSync(`${path}.1`, recording);
  const config = join(folder, 'twinyard.yaml');
  const endpoint = '{ name: default, replicas: [{ id: r0, url: "http://127.0.0.1:9" }] }';
  writeFileSync(config, `data_dir: ${folder}\nrecord: ${path}\nendpoints: [${endpoint}]\n`);
  server = await serveProcess(['-c', config], (close) => closing.push(close));
});
afterAll(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

async function call(line: string, body?: string | object): Promise<Body> {
  const [method, path] = line.split(' ') as [string, string];
  const headers = { authorization: `Bearer ${server.token}` };
  const content = typeof body === 'object' ? JSON.stringify(body) : body;
  const init = { method, headers, ...(content === undefined ? {} : { body: content }) };
  return (await fetch(`${server.adminUrl}/api/v1/${path}`, init)).json();
}

/** The job after its end, which the stream of its changes waits for. */
async function ended({ id }: { id: string }): Promise<Body> {
  const headers = { authorization: `Bearer ${server.token}` };
  await (await fetch(`${server.adminUrl}/api/v1/jobs/${id}/events`, { headers })).text();
  return call(`GET jobs/${id}`);
}

/** What the command of a result prints, run in the folder with the input. */
function printedBy(command: string): string {
  const [, ...args] = command.replaceAll("'", '').split(' ');
  const { status, stderr, stdout } = spawnSync(process.execPath, [CLI, ...args, '--no-cache', '--workers', '1'], {
    ...{ cwd: folder, encoding: 'utf8' },
  });
  expect([status, stderr]).toEqual([0, expect.anything()]);
  return stdout;
}

describe('an experiment of a server', () => {
  test('has the bytes of its command, and curves to draw', async () => {
    const traffic = { workload: 'rag', rate: 40, requests: 60 };
    const created = await call(`POST ${LAB}/experiments`, { traffic, fleet: FLEET, policies: POLICIES, seeds: 2 });
    expect(created).toMatchObject({ kind: 'lab', workspace: 'default', endpoint: '', asked: { traffic } });
    const { error, progress, result, state } = await ended(created);
    expect([state, error, progress]).toEqual(['done', null, { stage: 'simulating', done: 4, total: 4 }]);
    expect(created.commands).toEqual([result.command]);
    expect(result.command).toBe(
      'twinyard compare --workload rag --rate 40 --num-requests 60 --model qwen/qwen3-14b --num-instances 3 --routing-policy round-robin,lmetric --seeds 2',
    );
    expect(documentJson(result.document)).toBe(printedBy(result.command));
    expect(result.verdict).toBe(result.document.comparison.verdict);
    expect(result.curves.map(({ name }: Body) => name)).toEqual(POLICIES);
    for (const curves of result.curves) {
      for (const key of ['ttft_ms', 'e2e_ms', 'itl_ms']) expect(curves[key]).toHaveLength(result.quantiles.length);
      expect([curves.in_system.length, curves.tokens_per_s.length]).toEqual([100, 100]);
      expect(curves.replicas).toMatchObject({ kind: 'instances', rows: { length: 3 } });
      const { mean } = result.document.variants.find(({ name }: Body) => name === curves.name).metrics.ttft_p99_ms;
      const [low, high] = curves.intervals.ttft_p99_ms;
      expect(low <= mean && mean <= high).toBe(true);
    }
  });

  test('has the bytes of its command with options, rates, unlike replicas, admission and a queue', async () => {
    const created = await call(`POST ${LAB}/experiments`, {
      traffic: { workload: 'rag', rates: [20, 40], requests: 40 },
      fleet: {
        model: 'qwen/qwen3-14b',
        kinds: [
          { hardware: 'H100', replicas: 1 },
          { hardware: 'L40S', tp: 2, replicas: 1 },
        ],
      },
      policies: ['chwbl:load_factor=1.5', 'lmetric:tie_break=random'],
      admission: { policy: 'token-bucket', options: { capacity: 100_000 } },
      flow_control: { max_concurrency: 4 },
      ...{ seeds: 1, slo_ttft_ms: 500 },
    });
    const { error, result } = await ended(created);
    expect(error).toBeNull();
    expect(created.commands).toEqual([result.command]);
    expect(documentJson(result.document)).toBe(printedBy(result.command));
    expect(result.document.comparison.axis).toMatchObject({ unit: 'requests/s' });
    expect(result.document.variants.map(({ series, x }: Body) => [series, x])).toEqual([
      ['chwbl load_factor=1.5', 20],
      ['lmetric tie_break=random', 20],
      ['chwbl load_factor=1.5', 40],
      ['lmetric tie_break=random', 40],
    ]);
    expect(result.curves.map(({ name }: Body) => name)).toEqual(result.document.variants.map(({ name }: Body) => name));
  });

  test('has step times as an endpoint was measured, and a command that fetches them first', async () => {
    const profiles = 'workspaces/default/endpoints/default/profiles';
    const [{ engine }] = (await call('GET profiles')).items;
    const fleet = { profile: { endpoint: 'default', engine }, replicas: 2 };
    const asked = { traffic: { workload: 'chatbot', rate: 10, requests: 30 }, fleet, policies: POLICIES, seeds: 1 };
    const before = await call(`POST ${LAB}/experiments`, asked);
    expect(before.error.message).toContain('has no profile yet');
    const profile = JSON.parse(profileText(PROFILE));
    await call(`PUT ${profiles}/${engine}/pin`, { pinned: true, profile });
    const created = await call(`POST ${LAB}/experiments`, asked);
    const { error, result } = await ended(created);
    expect(error).toBeNull();
    expect(created.commands).toEqual([
      `twinyard profiles export default ${engine} --workspace default --server ${server.adminUrl} --output latency-profile.json`,
      result.command,
    ]);
    writeFileSync(join(folder, 'latency-profile.json'), profileText(PROFILE));
    expect(documentJson(result.document)).toBe(printedBy(result.command));
  });

  test('replays an upload and what the gateway recorded, with the bytes of the same command', async () => {
    const upload = await call(`POST ${LAB}/uploads?name=monday.jsonl`, recording);
    expect(upload).toMatchObject({ name: 'monday.jsonl', bytes: recording.length });
    const asked = { fleet: FLEET, policies: POLICIES };
    const traffic = { upload: { id: upload.id, format: 'trace' } };
    const uploaded = await ended(await call(`POST ${LAB}/experiments`, { traffic, ...asked }));
    expect(uploaded.result.input).toMatchObject({ name: 'monday.jsonl', requests: 200 });
    writeFileSync(join(folder, 'monday.jsonl'), recording);
    expect(documentJson(uploaded.result.document)).toBe(printedBy(uploaded.result.command));

    const times = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
    const recorded = { recording: { endpoint: 'default', ...times } };
    const replayed = await ended(await call(`POST ${LAB}/experiments`, { traffic: recorded, ...asked }));
    expect([replayed.state, replayed.endpoint, replayed.asked.traffic]).toEqual(['done', 'default', recorded]);
    expect(replayed.result.document.variants[0].metrics).toEqual(uploaded.result.document.variants[0].metrics);
    const [fetched, compared] = replayed.commands;
    expect([compared, fetched]).toEqual([replayed.result.command, expect.stringMatching(/ > default\.jsonl$/)]);
    // The first part of the line by Node: curl is not on every machine.
    const [, url, filter] = /'(http[^']+)' \| (.*)$/.exec(fetched)!;
    const headers = { authorization: `Bearer ${server.token}` };
    const input = await (await fetch(url!, { headers })).text();
    expect(spawnSync('sh', ['-c', filter!], { cwd: folder, input }).status).toBe(0);
    expect(documentJson(replayed.result.document)).toBe(printedBy(replayed.result.command));
  });

  test('is cancelled while it computes, and leaves nothing behind', async () => {
    const traffic = { workload: 'agentic-coder', rate: 50, requests: 100_000 };
    const { id } = await call(`POST ${LAB}/experiments`, { traffic, fleet: FLEET, policies: POLICIES, seeds: 10 });
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`twinyard-twin-${server.child.pid}-`));
    await expect.poll(async () => (await call(`GET jobs/${id}`)).state, { timeout: 240_000 }).toBe('running');
    await expect.poll(folders, { timeout: 240_000 }).toHaveLength(1);
    expect((await call(`DELETE jobs/${id}`)).state).toBe('cancelled');
    expect(folders()).toEqual([]);
  });

  test('reads no file of the server for an uploaded specification', async () => {
    const secret = join(folder, 'secret.csv');
    writeFileSync(secret, 'token-of-the-operator\n');
    const lengths = `{ type: empirical, file: ${secret} }`;
    const client = `{ id: a, rate_fraction: 1, arrival: { process: poisson }, input_distribution: ${lengths}, output_distribution: { type: constant, params: { value: 8 } } }`;
    const spec = `version: "2"\naggregate_rate: 5\nclients: [${client}]\n`;
    writeFileSync(join(folder, 'spec.yaml'), spec);
    const { id } = await call(`POST ${LAB}/uploads?name=spec.yaml`, readFileSync(join(folder, 'spec.yaml'), 'utf8'));
    const traffic = { upload: { id, format: 'workload' } };
    const { error } = await ended(await call(`POST ${LAB}/experiments`, { traffic, fleet: FLEET, policies: POLICIES }));
    expect([error.code, error.message]).toEqual(['LAB_FILE', expect.stringMatching(/^spec\.yaml:3:\d+/)]);
    expect(JSON.stringify(error)).not.toContain('token-of-the-operator');
  });
});
