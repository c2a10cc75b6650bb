import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
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
