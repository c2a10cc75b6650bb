import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReplicaSpec, RunnerEvent } from '../contract.js';
import { fakeSpec } from '../fake-engine.fixture.js';
import { FakeRay } from './fake-ray.fixture.js';
import { RayRunner } from './ray-runner.js';

/** What a real cluster does seldom, or only when it is broken. */
let ray: FakeRay;
let folder: string;
let isWell: boolean;
let isLeading: boolean;
let faults: string[];
let open: RayRunner[];

beforeEach(() => {
  ray = new FakeRay();
  folder = mkdtempSync(join(tmpdir(), 'twinyard-ray-'));
  isWell = true;
  isLeading = true;
  faults = [];
  open = [];
});

afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

const readiness = { everyMs: 1, timeoutMs: 1000, failures: 2 };

async function runnerIn(name: string, events: RunnerEvent[] = []): Promise<RayRunner> {
  const runner = await RayRunner.open({
    ...{ cluster: 'lab', folder: join(folder, name), settings: {} },
    transport: () => ray,
    responds: async () => isWell,
    timing: { idleMs: 2, movingMs: 2, awayMs: 2, readiness },
    onFault: ({ message }) => faults.push(message),
    mayAct: () => isLeading,
  });
  runner.watch((event) => events.push(event));
  open.push(runner);
  return runner;
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 1));
}

const phaseOf = async (runner: RayRunner, id = 'a') =>
  (await runner.list()).find((one) => one.id === id)?.phase ?? null;
const idOf = (replica = 'a') => [...ray.jobs.keys()].find((id) => id.startsWith(`twinyard-lab-${replica}-`))!;

async function ready(runner: RayRunner, change: Partial<ReplicaSpec> = {}): Promise<string> {
  await runner.start(fakeSpec('a', {}, change));
  ray.run(idOf());
  await until(async () => (await phaseOf(runner)) === 'ready');
  return idOf();
}

test('has no secret, command or environment in what the dashboard shows', async () => {
  const runner = await runnerIn('one');
  await ready(runner, {
    env: { A: 'plain-variable' },
    secretEnv: { TOKEN: 'hush-hush-hush' },
    args: ['--flag-of-engine'],
  });
  const shown = JSON.stringify(ray.submitted);
  for (const hidden of ['hush-hush-hush', 'plain-variable', '--flag-of-engine', 'TOKEN']) {
    expect(shown).not.toContain(hidden);
    expect(ray.packages[0]!.includes(hidden)).toBe(true);
  }
  expect(ray.submitted[0]).toMatchObject({
    ...{ entrypoint: 'exec python3 replica.py', entrypoint_label_selector: { 'ray.io/node-id': 'n1' } },
    runtime_env: { env_vars: { RAY_JOB_STOP_WAIT_TIME_S: '60' } },
  });
});

test('serves on with what it saw last while the dashboard is away, and reports that once', async () => {
  const runner = await runnerIn('one');
  const id = await ready(runner);
  await runner.start(fakeSpec('b'));
  ray.isAway = true;
  await until(() => faults.length > 0);
  const problem = 'the Ray dashboard cannot be reached (ECONNREFUSED)';
  await until(async () => (await runner.list())[1]!.problem !== null);
  expect(await runner.list()).toMatchObject([
    { id: 'a', phase: 'ready', problem: null },
    { id: 'b', phase: 'starting', problem: expect.stringContaining(problem) as string },
  ]);
  await expect(runner.discover()).rejects.toMatchObject({ code: 'RAY_NOT_REACHED' });
  await expect(runner.start(fakeSpec('c'))).rejects.toMatchObject({ code: 'RUNNER_NOT_STARTED' });
  await expect(runner.stop('a', { graceMs: 0 })).rejects.toMatchObject({ code: 'RAY_NOT_REACHED' });
  expect(faults.filter((one) => one.includes('served as they were seen last'))).toHaveLength(1);
  ray.isAway = false;
  expect(await runner.stop('a', { graceMs: 0 })).toMatchObject({ reason: 'stopped' });
  expect(ray.jobs.has(id)).toBe(false);
});

test('serves what a restarted head has forgotten as long as it responds, and reports its end then', async () => {
  const events: RunnerEvent[] = [];
  const runner = await runnerIn('one', events);
  await ready(runner);
  ray.jobs.clear();
  await until(async () => (await runner.list())[0]!.problem !== null);
  expect(await phaseOf(runner)).toBe('ready');
  isWell = false;
  await until(() => events.some(({ type }) => type === 'exited'));
  expect((await runner.list())[0]!.exit).toMatchObject({
    ...{
      reason: 'ended',
      detail: 'Ray does not know its job any more: its head was restarted, or the job was deleted',
    },
  });
  expect(await runner.stop('a', { graceMs: 0 })).toMatchObject({ reason: 'ended' });
  expect(await runner.list()).toEqual([]);
});

test('keeps replicas of a forgotten session over its own restart', async () => {
  const first = await runnerIn('one');
  await ready(first);
  await first.close();
  ray.jobs.clear();
  const second = await runnerIn('one');
  expect(await phaseOf(second)).toBe('ready');
});

test('reports a replica whose node was lost while Ray still lists it as running', async () => {
  const events: RunnerEvent[] = [];
  const runner = await runnerIn('one', events);
  await ready(runner);
  ray.nodes.delete('n1');
  isWell = false;
  await until(() => events.some(({ type }) => type === 'exited'));
  expect((await runner.list())[0]!.exit).toMatchObject({ reason: 'ended', detail: 'node lost', lastLines: [] });
  // It can be removed at once, and its job is deleted when Ray notices that it has ended.
  ray.isStuck = true;
  await runner.stop('a', { graceMs: 0 });
  expect(await runner.list()).toEqual([]);
  ray.become(idOf(), { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_DIED' });
  await until(() => ray.jobs.size === 0);
  expect(await runner.list()).toEqual([]);
});

test('finds the address of an engine that has written much since', async () => {
  const runner = await runnerIn('one');
  await runner.start(fakeSpec('a'));
  const id = idOf();
  ray.run(id, 31_007);
  for (let i = 1; i <= 3000; i++) ray.say(id, i, 'loading');
  await until(async () => (await phaseOf(runner)) === 'ready');
  expect((await runner.list())[0]!.url).toBe('http://10.0.0.1:31007');
  await runner.close();
});

test('reports in the status of the cluster why its jobs cannot be seen', async () => {
  const runner = await runnerIn('one');
  const send = ray.send.bind(ray);
  ray.send = async (request) =>
    request.path === '/api/jobs/' ? { status: 200, body: Buffer.from('['), isCut: true } : send(request);
  await until(async () => (await runner.discover()).problems.length > 0);
  expect((await runner.discover()).problems[0]).toContain('the response to /api/jobs/ is longer than 32 MiB');
});

test('reports why Ray could not start a job', async () => {
  const events: RunnerEvent[] = [];
  const runner = await runnerIn('one', events);
  await runner.start(fakeSpec('a'));
  ray.become(idOf(), {
    ...{ status: 'FAILED', error_type: 'RUNTIME_ENV_SETUP_FAILURE', end_time: 5 },
    message: 'runtime_env setup failed: no space left on device\nTraceback ...',
  });
  await until(() => events.some(({ type }) => type === 'exited'));
  expect((await runner.list())[0]!.exit).toMatchObject({
    ...{ reason: 'ended', code: null, at: 5, detail: 'runtime_env setup failed: no space left on device' },
  });
});

test('a second control plane sees the replicas of the first, and forgets those that are removed', async () => {
  const [first, second] = [await runnerIn('one'), await runnerIn('two')];
  const id = await ready(first);
  await until(async () => (await phaseOf(second)) === 'ready');
  expect((await second.list())[0]).toMatchObject({ url: 'http://10.0.0.1:31000', specHash: 'h1' });
  await expect(second.start(fakeSpec('a'))).rejects.toMatchObject({ code: 'RUNNER_REPLICA_EXISTS' });
  await first.stop('a', { graceMs: 0 });
  isWell = false;
  await until(async () => (await second.list()).length === 0);
  expect(ray.jobs.has(id)).toBe(false);
  expect(ray.submitted).toHaveLength(1);
});

test('deletes what Ray lists again of a deleted job, and leaves jobs of others alone', async () => {
  const runner = await runnerIn('one');
  const id = await ready(runner);
  const job = ray.jobs.get(id)!;
  await runner.stop('a', { graceMs: 0 });
  ray.jobs.set(id, { ...job, status: 'FAILED', metadata: null, error_type: 'JOB_SUPERVISOR_ACTOR_DIED' });
  const others = { ...job, submission_id: 'theirs', status: 'SUCCEEDED', metadata: null } as const;
  ray.jobs.set('theirs', others);
  await until(() => !ray.jobs.has(id));
  expect(await runner.list()).toEqual([]);
  expect([...ray.jobs.keys()]).toEqual(['theirs']);
});

test('does not adopt a job whose metadata names files elsewhere', async () => {
  const runner = await runnerIn('one');
  const job = ray.jobs.get(await ready(runner))!;
  const record = JSON.parse(job.metadata!['twinyard.replica']!) as object;
  for (const submission_id of ['twinyard-lab-../../x', 'x']) {
    const text = JSON.stringify({ ...record, id: 'evil', submissionId: submission_id });
    ray.jobs.set(submission_id, { ...job, submission_id, metadata: { ...job.metadata, 'twinyard.replica': text } });
  }
  await runner.start(fakeSpec('b'));
  ray.run(idOf('b'), 31_001);
  await until(async () => (await phaseOf(runner, 'b')) === 'ready');
  expect((await runner.list()).map(({ id }) => id)).toEqual(['a', 'b']);
});

describe('while another control plane leads', () => {
  let writes: string[];
  let lists: number;

  beforeEach(() => {
    writes = [];
    lists = 0;
    const send = ray.send.bind(ray);
    ray.send = (request) => {
      if (request.method !== 'GET') writes.push(`${request.method} ${request.path}`);
      else if (request.path === '/api/jobs/') lists++;
      return send(request);
    };
  });

  /** Resolves when the runner has looked at the jobs that many times more. */
  async function looks(count: number): Promise<void> {
    const by = lists + count;
    await until(() => lists > by);
  }

  test('no job is started, stopped, killed or deleted, and nothing is reported as a fault', async () => {
    const runner = await runnerIn('one');
    const id = await ready(runner);
    isLeading = false;
    writes.length = 0;
    await expect(runner.start(fakeSpec('b'))).rejects.toMatchObject({ code: 'RUNNER_NOT_LEADING' });
    await expect(runner.stop('a', { graceMs: 0 })).rejects.toMatchObject({ code: 'RUNNER_NOT_LEADING' });
    const ghost = { submission_id: 'twinyard-lab-x-0', status: 'FAILED', metadata: null } as const;
    ray.jobs.set('twinyard-lab-x-0', { ...ray.jobs.get(id)!, ...ghost });
    await looks(2);
    expect([writes, faults, await phaseOf(runner)]).toEqual([[], [], 'ready']);
    // The leader tidies up.
    isLeading = true;
    await until(() => !ray.jobs.has('twinyard-lab-x-0'));
    expect(writes).toEqual(['DELETE /api/jobs/twinyard-lab-x-0']);
  });

  test('a replica that does not become ready in time is not stopped before this one leads again', async () => {
    isWell = false;
    const runner = await runnerIn('one');
    await runner.start(fakeSpec('a', {}, { startupTimeoutMs: 1 }));
    isLeading = false;
    writes.length = 0;
    ray.run(idOf());
    await until(async () => (await runner.list())[0]!.url.endsWith(':31000'));
    await looks(20);
    expect([writes, await phaseOf(runner)]).toEqual([[], 'starting']);
    isLeading = true;
    await until(async () => (await phaseOf(runner)) === 'exited');
    expect((await runner.list())[0]!.exit).toMatchObject({ reason: 'startup-timeout' });
    expect(writes[0]).toBe(`POST /api/jobs/${idOf()}/stop`);
  });
});
