import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ReplicaHandle } from './contract.js';
import { fakeHandle } from './fake-handle.fixture.js';
import { PreviousLogs } from './previous-logs.js';

let folder: string;
let faults: string[];
let logs: PreviousLogs;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-previous-'));
  faults = [];
  logs = new PreviousLogs(
    join(folder, 'kept'),
    (line) => line.replace('hush', '***'),
    (error) => faults.push(error.message),
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

const CHAT = { workspace: 'default', endpoint: 'chat' };
const ended = (id: string, at: number, owner = CHAT): ReplicaHandle =>
  fakeHandle(id, {
    ...owner,
    exit: { reason: 'ended', code: 1, signal: null, detail: null, at, lastLines: [] },
  });

async function* written(...lines: string[]) {
  yield* lines;
}

it('keeps the log of the replica that ended last, of each endpoint', async () => {
  expect(logs.find(CHAT)).toBeNull();
  await logs.keep(ended('chat-a', 5), written('one', 'two'));
  await logs.keep(ended('chat-b', 3), written('ended before'));
  await logs.keep(ended('code-a', 9, { workspace: 'default', endpoint: 'code' }), written());
  expect(logs.find(CHAT)).toEqual({ replica: 'chat-a', at: 5, lines: ['one', 'two'] });
  expect(logs.find({ workspace: 'default', endpoint: 'code' })).toEqual({ replica: 'code-a', at: 9, lines: [] });
  expect(logs.find({ workspace: 'other', endpoint: 'chat' })).toBeNull();
  await logs.keep(ended('chat-c', 6), written('three'));
  expect(logs.find(CHAT)?.lines).toEqual(['three']);
  await logs.forget(CHAT);
  await logs.forget(CHAT);
  expect(logs.find(CHAT)).toBeNull();
});

it('keeps the last mebibyte, readable by its owner only, without secrets that became known later', async () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `${i} hush ${'x'.repeat(400)}`);
  await logs.keep(ended('chat-a', 5), written(...lines));
  const { mode, size } = statSync(join(folder, 'kept', 'default', 'chat.log'));
  expect([mode & 0o777, size > 1e6, size < 1.1e6]).toEqual([0o600, true, true]);
  const kept = logs.find(CHAT)!.lines;
  expect(kept.at(-1)).toContain('4999 ***');
  expect(kept.length).toBeGreaterThan(2000);
});

it('reports a log that cannot be kept, and does not fail', async () => {
  writeFileSync(join(folder, 'kept'), 'not a folder');
  await logs.keep(ended('chat-a', 5), written('one'));
  expect(faults).toEqual([expect.stringContaining("replica 'chat-a': its log cannot be kept")]);
  expect(logs.find(CHAT)).toBeNull();
});
