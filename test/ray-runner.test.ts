import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { RayGround } from '../src/control/runner/ray/ray-ground.fixture.js';
import { RayRecorder, readRecorded, recordedText } from '../src/control/runner/ray/ray-recording.fixture.js';
import { runnerContract } from '../src/control/runner/runner.contract.js';
import { RayLab } from './support/ray-lab.js';

/** The command of an installed Ray: `npm run test:ray` installs one. Skipped without it. */
const RAY = process.env.TWINYARD_TEST_RAY;
const RECORDED = fileURLToPath(new URL('../src/control/runner/ray/recorded-exchanges.json', import.meta.url));
// Ray starts a process of Python for each job.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

describe.skipIf(RAY === undefined)('a real Ray cluster', () => {
  const recorders = new Map<string, RayRecorder>();
  let lab: RayLab;

  beforeAll(async () => {
    lab = await RayLab.start(RAY!, { address: '127.0.0.2', gpus: 2, resources: '{"accelerator_type:H100": 1}' });
  });

  afterAll(async () => {
    await lab.stop();
    if (process.env.TWINYARD_RECORD_RAY === undefined) return;
    // Tests that were left out keep what is recorded of them.
    const before = existsSync(RECORDED) ? readRecorded(readFileSync(RECORDED, 'utf8')) : [];
    const now = [...recorders].map(([title, one]) => [title, one.exchanges] as const);
    writeFileSync(RECORDED, recordedText(new Map([...before, ...now])));
  });

  runnerContract(async () => {
    const recorder = new RayRecorder();
    recorders.set(expect.getState().currentTestName!.split(' > ').at(-1)!, recorder);
    return new RayGround({ url: lab.url, token: null, caFile: null }, recorder);
  });
});

describe.skipIf(RAY === undefined)('a Ray cluster with a token', () => {
  const TOKEN = 'token-of-the-lab-0123456789';
  const SECRET = 'hush-hush-hush';
  let lab: RayLab;
  let ground: RayGround;

  beforeAll(async () => {
    const env = { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: TOKEN };
    lab = await RayLab.start(RAY!, { address: '127.0.0.4', gpus: 0 }, env);
    ground = new RayGround({ url: lab.url, token: TOKEN, caFile: null });
  });

  afterAll(async () => {
    await ground.clear();
    await lab.stop();
  });

  test('refuses others, runs a replica, and shows none of its secrets', async () => {
    await expect(ground.open({ settings: { ray: { url: lab.url } } })).rejects.toMatchObject({ code: 'RAY_TOKEN' });
    const runner = await ground.open();
    const isReady = new Promise((resolve) => runner.watch(({ type }) => type === 'ready' && resolve(null)));
    await runner.start(ground.spec('a', { says: ['hello'] }, { secretEnv: { KEY: SECRET } }));
    await isReady;
    const { url } = (await runner.list())[0]!;
    const { env } = (await (await fetch(`${url}/self`)).json()) as { env: Record<string, string> };
    expect([env.KEY, env.RAY_AUTH_TOKEN, env.RAY_AUTH_MODE]).toEqual([SECRET, undefined, undefined]);
    const [job] = await ground.jobs.list();
    const shown: string[] = [];
    for (const path of [
      'jobs/',
      `jobs/${job!.submission_id}/logs`,
      'v0/actors?detail=true',
      'v0/workers?detail=true',
    ]) {
      const response = await fetch(`${lab.url}/api/${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
      expect([path, response.status]).toEqual([path, 200]);
      shown.push(await response.text());
    }
    expect(shown.join('\n')).toContain('hello');
    expect(shown.join('\n')).not.toContain(SECRET);
    expect(await runner.stop('a', { graceMs: 10_000 })).toMatchObject({ reason: 'stopped', code: 0 });
    await runner.close();
  });
});
