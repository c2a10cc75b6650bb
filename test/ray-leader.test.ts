import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RayClient } from '../src/ray/ray-client.js';
import { isEnded } from '../src/ray/ray-job.js';
import { RayJobs } from '../src/ray/ray-jobs.js';
import { httpTransport } from '../src/ray/ray-transport.js';
import { POSTGRES_PROGRAMS, startPostgres, type TestPostgres } from '../src/store/postgres.fixture.js';
import { DrillClients } from './support/drill-clients.js';
import { RayLab } from './support/ray-lab.js';
import { CHAT, PACE_MS, RayYard } from './support/ray-yard.js';
import type { ServeProcess } from './support/serve-process.js';

/** The command of an installed Ray: `npm run test:ray` installs one. Skipped without it, and without PostgreSQL. */
const RAY = process.env.TWINYARD_TEST_RAY;
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

describe.skipIf(RAY === undefined || POSTGRES_PROGRAMS === null)(
  'several control planes of one PostgreSQL store',
  () => {
    let lab: RayLab;
    let jobs: RayJobs;
    let postgres: TestPostgres;
    let yard: RayYard;

    beforeAll(async () => {
      postgres = await startPostgres();
      lab = await RayLab.start(RAY!, { address: '127.0.0.5', gpus: 0 });
      yard = new RayYard(lab, await postgres.freshUrl());
      jobs = new RayJobs(new RayClient(lab.url, httpTransport({ url: lab.url, token: null, caFile: null })));
    });

    afterAll(async () => {
      await lab?.stop();
      await postgres?.stop();
      if (yard !== undefined) rmSync(yard.folder, { recursive: true, force: true });
    });

    const replicaJobs = async () =>
      (await jobs.list()).filter((job) => !isEnded(job) && job.metadata?.['twinyard.replica'] !== undefined);

    it('one acts at a time: a leader that is killed or suspended is followed by another, and no request is lost', async () => {
      await yard.start('q1');
      const first = yard.serve;
      const second = await yard.join('q2');
      expect([await leads(first), await leads(second)]).toEqual([1, 0]);
      await yard.declare(2, 1);
      const before = await yard.settled(2);
      const most = highest(async () => (await replicaJobs()).length);
      onTestFinished(async () => void (await most.stop()));

      // Killed: its lease has to end first.
      const atSecond = new DrillClients(second.url, 4);
      await atSecond.untilMore(10);
      first.child.kill('SIGKILL');
      const killedMs = await timeUntil(async () => (await leads(second)) === 1);
      yard.serve = second;
      expect(await yard.settled(2)).toEqual(before);
      await atSecond.untilMore(10);
      await yard.declare(3, 1);
      await yard.settled(3);
      await atSecond.untilMore(10);
      await atSecond.rest();

      // Suspended while it starts replicas: it starts none when it goes on.
      const third = await yard.join('q3');
      const atThird = new DrillClients(third.url, 4);
      await atThird.untilMore(10);
      await yard.declare(5, 1);
      second.child.kill('SIGSTOP');
      const suspendedMs = await timeUntil(async () => (await leads(third)) === 1);
      yard.serve = third;
      await yard.settled(5);
      const refused = yard.put(second, 9, 1);
      second.child.kill('SIGCONT');
      expect((await refused).status).toBe(503);
      await until(async () => second.said().includes('another process has taken over'));
      expect(await leads(second)).toBe(0);
      await atThird.untilMore(20);
      expect((await replicaJobs()).length).toBe(5);
      await yard.declare(1, 1);
      await yard.settled(1);
      await atThird.untilMore(10);
      await atThird.rest();

      expect(await most.stop()).toBe(5);
      expect([Object.keys(atSecond.counts), Object.keys(atThird.counts)]).toEqual([['complete'], ['complete']]);
      console.log(
        `leader killed: ${killedMs} ms, suspended: ${suspendedMs} ms; ${atSecond.ends.length + atThird.ends.length} requests`,
      );
      await yard.call('DELETE', CHAT);
      while ((await jobs.list()).length > 0) await pause(PACE_MS);
    });
  },
);

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(50);
}

async function timeUntil(isSo: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  await until(isSo);
  return Math.round(performance.now() - start);
}

/** The metric `twinyard_leader`. */
async function leads({ adminUrl, token }: ServeProcess): Promise<number> {
  const response = await fetch(`${adminUrl}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(/^twinyard_leader (\d)$/m.exec(await response.text())?.[1]);
}

/** The highest count until it is stopped. */
function highest(count: () => Promise<number>): { stop: () => Promise<number> } {
  let isOver = false;
  let most = 0;
  const done = (async () => {
    while (!isOver) {
      most = Math.max(most, await count());
      await pause(100);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await done;
      return most;
    },
  };
}
