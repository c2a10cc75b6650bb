import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { allProcesses } from '../src/control/runner/local/process/process-table.js';
import { POSTGRES_PROGRAMS, startPostgres } from '../src/store/postgres.fixture.js';
import { afterwards } from './support/gateway-fixture.js';
import { type ServeProcess, serveProcess } from './support/serve-process.js';

const PACE_MS = 50;
const CHAT = 'workspaces/default/endpoints/chat';
const missing = POSTGRES_PROGRAMS === null;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(PACE_MS);
}

async function call({ adminUrl, token }: ServeProcess, method: string, path: string, body?: object) {
  const response = await fetch(`${adminUrl}/api/v1/${path}`, {
    ...{ method, headers: { authorization: `Bearer ${token}` } },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const endpoint = (replicas: number) => ({
  ...{ apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name: 'chat' } },
  spec: { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b', serve_as: 'tiny' }, replicas },
});

const name = 'two servers on one PostgreSQL: one follows, serves and takes over; replicas stay with their host';
test.skipIf(missing)(missing ? `${name}: skipped, PostgreSQL is not installed here` : name, async () => {
  const server = await startPostgres();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-standby-')));
  const replicas = async () => (await allProcesses()).filter((one) => one.folders.some((at) => at.startsWith(folder)));
  afterwards(async () => {
    for (let left = await replicas(); left.length > 0; left = await replicas()) {
      for (const { pid } of left) process.kill(pid, 'SIGKILL');
    }
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const store = await server.freshUrl();
  const serve = (host: string) => serveProcess(['--store', store, '--data-dir', join(folder, host)]);
  const readyAt = async (one: ServeProcess) =>
    (JSON.parse((await call(one, 'GET', CHAT)).text) as { status?: { ready: number } }).status?.ready;

  const first = await serve('q1');
  expect((await call(first, 'PUT', CHAT, endpoint(2))).status).toBe(201);
  await until(async () => (await readyAt(first)) === 2);
  const second = await serve('q2');
  expect(second.said()).toContain(`standby: the control plane is`);

  // A follower refuses changes with the address of the leader, and serves requests with the same keys.
  const refused = await call(second, 'PUT', CHAT, endpoint(1));
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining(first.adminUrl)]);
  const path = 'workspaces/default/apikeys/web/issue';
  const declared = { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'web' }, spec: {} };
  await call(first, 'PUT', 'workspaces/default/apikeys/web', declared);
  const { key: secret } = JSON.parse((await call(first, 'POST', path)).text) as { key: string };
  const body = JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 2 });
  const ask = async ({ url }: ServeProcess) => {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    await response.text();
    return response.status;
  };
  await until(async () => (await ask(second)) === 200);

  first.child.kill('SIGTERM');
  await first.ended;
  await until(async () => second.said().includes('this process is the control plane now'));
  expect([await ask(second), (await replicas()).length]).toEqual([200, 2]);
  // Changes wait for the host of the replicas, which carries them out as a follower.
  expect((await call(second, 'PUT', CHAT, endpoint(1))).status).toBe(200);
  await until(async () => (await call(second, 'GET', CHAT)).text.includes('where no control plane runs'));
  expect((await replicas()).length).toBe(2);
  const again = await serve('q1');
  expect(again.said()).toContain(`standby: the control plane is`);
  await until(async () => (await readyAt(second)) === 1 && (await replicas()).length === 1);
  expect([await ask(second), await ask(again)]).toEqual([200, 200]);

  second.child.kill('SIGTERM');
  await second.ended;
  await until(async () => again.said().includes('this process is the control plane now'));
  expect((await replicas()).length).toBe(1);
  expect((await call(again, 'DELETE', CHAT)).status).toBeLessThan(300);
  await until(async () => (await call(again, 'GET', CHAT)).status === 404);
  expect(await replicas()).toEqual([]);
});
