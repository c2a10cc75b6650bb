import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { randomStream } from '../src/kernel/random-stream.js';
import { hashKeySecret } from '../src/store/keys/key-secret.js';
import { openStore, type Store } from '../src/store/open-store.js';

const WRITER = fileURLToPath(new URL('support/store-writer.mjs', import.meta.url));
const ROUNDS = 10;
const draws = randomStream(7, 'moments to be killed at');

/** Lets a process write until it has acknowledged some things, then kills it in the middle of the next. */
async function killedWriter(path: string, round: number): Promise<string[][]> {
  const writer = spawn(process.execPath, [WRITER, path, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(writer, 'exit');
  const last = 1 + draws.below(25);
  const spins = draws.below(200_000);
  const acknowledged: string[][] = [];
  for await (const line of createInterface(writer.stdout)) {
    acknowledged.push(line.split(' '));
    if (acknowledged.length !== last) continue;
    // A moment of its own within the next write: nothing here waits for a clock.
    for (let i = 0; i < spins; i++) Math.imul(i, i);
    writer.kill('SIGKILL');
  }
  expect((await ended)[1]).toBe('SIGKILL');
  return acknowledged;
}

async function check(store: Store, acknowledged: readonly string[][]): Promise<void> {
  const keys = new Map((await store.keys.news(null))!.keys.map((key) => [key.id, key]));
  const folded = new Set((await store.db.selectFrom('folded_journals').select('id').execute()).map(({ id }) => id));
  for (const [what, name, text] of acknowledged) {
    if (what === 'key') expect(keys.get(name!)?.hash).toBe(hashKeySecret(text!));
    if (what === 'revoked') expect(keys.get(name!)?.revokedAt).not.toBeNull();
    if (what === 'fold') expect([...folded]).toContain(name);
  }
  // A journal has all its rows or does not exist, acknowledged or not.
  const { requests, inputTokens } = (await store.usage.query({ by: [] }))[0]!;
  expect([requests, inputTokens]).toEqual([2 * folded.size, 200 * folded.size]);
}

test('what a store acknowledged survives kill -9 at any moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-kill-'));
  const path = join(folder, 'yard.db');
  const acknowledged: string[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    acknowledged.push(...(await killedWriter(path, round)));
    const store = await openStore(path);
    await check(store, acknowledged);
    await store.close();
  }
  expect(acknowledged.length).toBeGreaterThan(2 * ROUNDS);
  const store = await openStore(path);
  const before = await store.usage.query({ by: [] });
  for (const [what, journal] of acknowledged) {
    if (what === 'fold') expect(await store.usage.fold(journal!, [])).toBe(false);
  }
  expect(await store.usage.query({ by: [] })).toEqual(before);
  await store.close();
  rmSync(folder, { recursive: true });
});
