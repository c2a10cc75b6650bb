import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { openStore } from '../../store/open-store.js';
import { UsageJournal } from './usage-journal.js';

const DIST = new URL('../../../dist/', import.meta.url);
const root = mkdtempSync(join(tmpdir(), 'twinyard-killed-'));
afterAll(() => rmSync(root, { recursive: true }));

/**
 * A gateway process: adds requests in batches, each under its own name, commits, reports it, and folds now and then,
 * until it is killed; or it kills itself between a fold and the next step.
 */
const LIFE = `
  import { writeSync } from 'node:fs';
  const [folder, address, life, dies] = process.argv.slice(1);
  const { openStore } = await import(${JSON.stringify(new URL('store/open-store.js', DIST).href)});
  const { UsageJournal } = await import(${JSON.stringify(new URL('gateway/metering/usage-journal.js', DIST).href)});
  const store = await openStore(address);
  const sink = {
    async fold(id, rows, gone) {
      const isNew = await store.usage.fold(id, rows, gone);
      if (isNew && dies === 'after fold' && rows.length > 3) process.kill(process.pid, 'SIGKILL');
    },
  };
  const journal = await UsageJournal.open(folder, sink, { epochUs: 0, onFault: (error) => { throw error; } });
  for (let batch = 0; ; batch++) {
    const model = life + '.' + batch;
    const requests = 1 + (batch * 7) % 13;
    for (let i = 0; i < requests; i++) {
      journal.add({
        keyId: 'k', model, endpoint: { name: 'e' }, outcome: 'ok', cause: '', endedUs: 0,
        inputTokens: batch + i, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0, isMetered: true, liveId: 0, characters: 0, audioSeconds: 0,
      }, 3);
    }
    journal.commit();
    writeSync(1, model + ' ' + requests + '\\n');
    if (batch % 5 === 4) void journal.fold();
    await new Promise(setImmediate);
  }
`;

/** Runs until `acknowledgements` batches were acknowledged, or until it exits; returns what it acknowledged. */
async function lived(args: readonly string[], acknowledgements: number): Promise<[model: string, requests: number][]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', LIFE, '--', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    if (text.split('\n').length > acknowledgements) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => {
    const [model, requests] = line.split(' ');
    return [model!, Number(requests)];
  });
}

/** The usage in the store at the end, by model. */
async function counted(folder: string, address: string) {
  const store = await openStore(address);
  const journal = await UsageJournal.open(folder, store.usage, {
    epochUs: 0,
    onFault: (error) => expect.unreachable(error.message),
  });
  await journal.close();
  const sums = await store.usage.query({ by: ['model'] });
  await store.close();
  return new Map(sums.map(({ model, requests, costNanos }) => [model!, { requests, costNanos }]));
}

describe('a process that is killed', () => {
  test.each([
    ['wherever it stands', ''],
    ['between a fold and the removal of the journal', 'after fold'],
  ])('%s, loses nothing it acknowledged and counts nothing twice', async (name, dies) => {
    const folder = join(root, name);
    const address = join(root, `${name}.db`);
    const random = randomStream(7, 'kills');
    const acknowledged: [string, number][] = [];
    const LIVES = 5;
    for (let life = 0; life < LIVES; life++) {
      const most = dies === '' ? 1 + Math.floor(random.next() * 60) : Number.POSITIVE_INFINITY;
      acknowledged.push(...(await lived([folder, address, String(life), dies], most)));
    }
    const sums = await counted(folder, address);
    expect(acknowledged.length).toBeGreaterThan(LIVES);
    for (const [model, requests] of acknowledged) {
      expect(sums.get(model), model).toEqual({ requests, costNanos: 3 * requests });
    }
    // Per run, at most one batch was written and not yet acknowledged.
    const others = [...sums].filter(([model]) => !acknowledged.some(([known]) => known === model));
    expect(new Set(others.map(([model]) => model.split('.')[0])).size).toBe(others.length);
    for (const [model, { requests }] of others) {
      expect(requests).toBeLessThanOrEqual(1 + ((Number(model.split('.')[1]) * 7) % 13));
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test('beside another live one, leaves it alone', async () => {
    const folder = join(root, 'beside');
    const address = join(root, 'beside.db');
    const store = await openStore(address);
    const alive = await UsageJournal.open(folder, store.usage, {
      epochUs: 0,
      onFault: (error) => expect.unreachable(error.message),
    });
    const audio = { characters: 0, audioSeconds: 0 };
    const tokens = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0, isMetered: true, liveId: 0 };
    alive.add(
      {
        ...tokens,
        ...audio,
        keyId: 'k',
        model: 'alive',
        endpoint: { name: 'e' },
        outcome: 'ok',
        cause: '',
        endedUs: 0,
      },
      3,
    );
    alive.commit();
    const acknowledged = [
      await lived([folder, address, '0', ''], 9),
      await lived([folder, address, '1', ''], 9),
    ].flat();
    expect((await store.usage.query({ model: 'alive', by: [] }))[0]!.requests).toBe(0);
    await alive.close();
    await store.close();
    const sums = await counted(folder, address);
    expect(sums.get('alive')).toEqual({ requests: 1, costNanos: 3 });
    for (const [model, requests] of acknowledged) expect(sums.get(model)!.requests, model).toBe(requests);
  });
});
