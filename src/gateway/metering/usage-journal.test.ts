import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../store/open-store.js';
import type { LiveRequest } from './live-usage.js';
import { type JournalOptions, UsageJournal, type UsageSink } from './usage-journal.js';
import type { CountedRequest } from './usage-totals.js';

/** A disk that can be full, fail in the middle of a write, or refuse deletions. */
const disk = vi.hoisted(() => ({ isFull: false, keepsAll: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const writeSync = (file: number, bytes: Buffer, from: number, length: number) => {
    if (!disk.isFull) return fs.writeSync(file, bytes, from, length);
    fs.writeSync(file, bytes, from, length - 1);
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  const kept = () => {
    throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' });
  };
  const unlinkSync = (path: string) => (disk.keepsAll ? kept() : fs.unlinkSync(path));
  const renameSync = (from: string, to: string) => (disk.keepsAll ? kept() : fs.renameSync(from, to));
  return { ...fs, writeSync, unlinkSync, renameSync };
});

const root = mkdtempSync(join(tmpdir(), 'twinyard-journal-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder: string;
let folders = 0;
let store: Store;
beforeEach(async () => {
  folder = join(root, String(folders++));
  store = await openStore(':memory:');
});
afterEach(async () => {
  disk.isFull = false;
  disk.keepsAll = false;
  await store.close();
});

const EPOCH_US = Date.UTC(2026, 10, 15) * 1000;
const request = (changes: Partial<CountedRequest> = {}): CountedRequest => ({
  keyId: 'k',
  model: 'm',
  endpoint: { name: 'e' },
  outcome: 'ok',
  cause: '',
  endedUs: 5,
  inputTokens: 10,
  cachedTokens: 4,
  outputTokens: 3,
  reasoningTokens: 2,
  isMetered: true,
  characters: 0,
  audioSeconds: 0,
  liveId: 0,
  ...changes,
});

const faults: string[] = [];
beforeEach(() => void faults.splice(0));
const open = (sink: UsageSink = store.usage, options: Partial<JournalOptions> = {}) =>
  UsageJournal.open(folder, sink, { epochUs: EPOCH_US, onFault: (error) => faults.push(error.message), ...options });

const files = () =>
  readdirSync(folder)
    .map((name) => name.replace(/-[0-9a-f-]{36}/, '-RUN'))
    .sort();
const journals = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.journal'))
    .sort();
const requests = async () => (await store.usage.query({ by: [] }))[0]!.requests;

/** Leaves a journal behind as a killed process does: the commits are there, and no process holds the lock. */
async function left(count: number, tail = ''): Promise<string> {
  const journal = await open({ fold: () => Promise.reject(new Error('away')) });
  for (let i = 0; i < count; i++) journal.add(request(), 1);
  await journal.close();
  const name = journals().find((one) => readFileSync(join(folder, one), 'utf8').includes('keyId'))!;
  writeFileSync(join(folder, name), tail, { flag: 'a' });
  faults.splice(0);
  return name;
}

describe('usage', () => {
  test('is summed by key, model, endpoint, day and outcome', async () => {
    const journal = await open();
    for (let i = 0; i < 3; i++) journal.add(request(), 7);
    journal.add(request({ endedUs: 86_400_000_000 }), 7);
    journal.add(request({ outcome: 'upstream_error', cause: 'the connection was cut', isMetered: false }), 0);
    journal.add(request({ outcome: 'client_left', keyId: '', model: 'n', endpoint: { name: 'f' } }), 1);
    await journal.close();
    const rows = await store.usage.query({ by: ['day', 'key', 'model', 'endpoint', 'outcome'] });
    expect(rows).toEqual([
      expect.objectContaining({ day: '2026-11-15', key: '', model: 'n', endpoint: 'f', outcome: 'client_left' }),
      {
        day: '2026-11-15',
        key: 'k',
        model: 'm',
        endpoint: 'e',
        outcome: 'ok',
        requests: 3,
        inputTokens: 30,
        cachedTokens: 12,
        outputTokens: 9,
        reasoningTokens: 6,
        characters: 0,
        audioSeconds: 0,
        estimatedRequests: 0,
        costNanos: 21,
      },
      expect.objectContaining({ outcome: 'the connection was cut', estimatedRequests: 1 }),
      expect.objectContaining({ day: '2026-11-16', outcome: 'ok', requests: 1 }),
    ]);
    expect([files(), faults]).toEqual([[], []]);
  });

  test('that is not an integer is an internal error, and affects no other usage', async () => {
    const journal = await open();
    for (const wrong of [{ inputTokens: -1 }, { outputTokens: 0.5 }, { cachedTokens: Number.NaN }]) {
      expect(() => journal.add(request(wrong), 0)).toThrow(RangeError);
    }
    expect(() => journal.add(request(), Number.POSITIVE_INFINITY)).toThrow(RangeError);
    journal.add(request(), 0);
    await journal.close();
    expect(await requests()).toBe(1);
  });

  test('is in the file after a commit, readable by its owner only, and removed once it is in the store', async () => {
    const journal = await open();
    const path = join(folder, journals()[0]!);
    journal.add(request(), 0);
    expect(statSync(path).size).toBe(0);
    journal.commit();
    expect(readFileSync(path, 'utf8')).toMatch(/^0 \{.*\}\n0 1 10 4 3 2 0 0 0 0\n$/);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await journal.fold();
    expect(await requests()).toBe(1);
    expect(files()).toEqual(['usage-RUN-1.journal', 'usage-RUN.lock']);
    await journal.fold();
    expect(files()).toEqual(['usage-RUN-1.journal', 'usage-RUN.lock']);
    await journal.close();
    expect(files()).toEqual([]);
  });

  test('that is not committed is still written before it takes much memory', async () => {
    const journal = await open();
    const path = join(folder, journals()[0]!);
    for (let i = 0; i < 10_000; i++) journal.add(request(), 0);
    expect(statSync(path).size).toBeGreaterThan(64 * 1024);
    await journal.close();
    expect(await requests()).toBe(10_000);
  });

  test('that ends while the store is busy is folded the next time', async () => {
    const held: (() => void)[] = [];
    const journal = await open({
      fold: async (id, rows) => {
        await new Promise<void>((resolve) => held.push(resolve));
        await store.usage.fold(id, rows);
      },
    });
    journal.add(request(), 0);
    const folding = journal.fold();
    expect(journal.fold()).toBe(folding);
    journal.add(request(), 0);
    journal.add(request(), 0);
    held.shift()!();
    await folding;
    expect(await requests()).toBe(1);
    const closing = journal.close();
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
    held.shift()!();
    await closing;
    expect(await requests()).toBe(3);
  });
});

describe('the journal of a dead run', () => {
  test('is folded first', async () => {
    await left(3);
    const journal = await open();
    expect(await requests()).toBe(3);
    expect(files()).toEqual(['usage-RUN-0.journal', 'usage-RUN.lock']);
    await journal.close();
    expect([files(), faults]).toEqual([[], []]);
  });

  test('without the line that was under way', async () => {
    await left(3, '0 1 10 4 3');
    await (await open()).close();
    expect([await requests(), files(), faults]).toEqual([3, [], []]);
  });

  test('is kept where it is damaged', async () => {
    const name = await left(3, 'rubbish\n0 1 1 1 1 1 0 1 0 0\n\n');
    await (await open()).close();
    expect(await requests()).toBe(4);
    expect(readdirSync(folder)).toEqual([`${name}.damaged`]);
    expect(faults).toEqual([expect.stringMatching(/usage-.*\.journal: 2 lines are damaged; the file is kept/)]);
    await (await open()).close();
    expect(await requests()).toBe(4);
  });

  test('counts once even if it was folded and not removed', async () => {
    const name = await left(3);
    const copy = join(root, 'copy');
    copyFileSync(join(folder, name), copy);
    await (await open()).close();
    copyFileSync(copy, join(folder, name));
    await (await open()).close();
    expect([await requests(), files()]).toEqual([3, []]);
  });

  test('is forgotten by the store once it is deleted', async () => {
    const name = await left(3);
    const gone: (readonly string[])[] = [];
    const journal = await open({
      fold: async (id, rows, given) => void gone.push(given, (await store.usage.fold(id, rows, given)) ? [id] : []),
    });
    journal.add(request(), 0);
    await journal.close();
    const ofRun = /usage-(.*)\.journal/.exec(name)![1]!;
    expect(gone).toEqual([[], [ofRun], [ofRun], [expect.stringMatching(/-0$/)]]);
    const remembered = await store.db.selectFrom('folded_journals').select('id').execute();
    expect(remembered.map(({ id }) => id)).toEqual(gone[3]);
  });

  test('waits with the rest while the store is unavailable', async () => {
    await left(3);
    let isAway = true;
    const journal = await open({
      fold: async (id, rows, gone) => {
        if (isAway) throw new Error('away');
        await store.usage.fold(id, rows, gone);
      },
    });
    journal.add(request(), 0);
    await journal.fold();
    expect([journal.waiting, journal.failedFolds, faults]).toEqual([
      1,
      2,
      ['usage cannot be added to the store (away); it is kept and added later'],
    ]);
    isAway = false;
    await journal.fold();
    await journal.close();
    expect([await requests(), files()]).toEqual([4, []]);
  });
});

describe('a journal that cannot be removed', () => {
  test.each([
    ['', 'has been added to the store but cannot be removed (permission denied)'],
    ['rubbish\n', '1 line is damaged'],
  ])('with %j in it is not forgotten, and counts once', async (tail, fault) => {
    await left(3, tail);
    disk.keepsAll = true;
    const journal = await open();
    expect(faults).toEqual([expect.stringContaining(fault)]);
    journal.add(request(), 0);
    await journal.close();
    disk.keepsAll = false;
    expect(await requests()).toBe(4);
    await (await open()).close();
    expect(await requests()).toBe(4);
    expect(journals()).toEqual([]);
  });
});

describe('streams under way', () => {
  const AWAY: UsageSink = { fold: () => Promise.reject(new Error('away')) };
  const copyTo = (target: string) => cpSync(folder, target, { recursive: true });
  const output = async () =>
    (await store.usage.query({ by: ['outcome'] })).map((row) => [row.outcome, row.outputTokens]);
  const KILLED = 'the gateway was killed';

  /** A journal with the streams of `live`; `killed` resolves to what the next run counts after a kill at this point. */
  async function running(live: LiveRequest[], sink?: UsageSink, options: Partial<JournalOptions> = {}) {
    const journal = await open(sink, {
      live: (each) => {
        for (const one of live) each(one, one.outputTokens);
      },
      nowUs: () => 5,
      ...options,
    });
    const killed = async () => {
      const [here, next] = [folder, `${folder}-killed-${folders++}`];
      copyTo(next);
      folder = next;
      // The lock of a process that lives is not in the copy.
      for (const name of readdirSync(next)) if (name.endsWith('.lock')) rmSync(join(next, name));
      await (await open()).close();
      expect(readdirSync(next)).toEqual([]);
      folder = here;
    };
    return { journal, killed };
  }

  test('count as they were when their sums were last written', async () => {
    const live = [request({ outputTokens: 7 }), request({ outputTokens: 4 })];
    const { journal, killed } = await running(live);
    journal.writeLive();
    live[0] = { ...live[0]!, outputTokens: 9 };
    journal.writeLive();
    live[0] = { ...live[0]!, outputTokens: 11 };
    await killed();
    expect(await store.usage.query({ by: ['day', 'outcome'] })).toEqual([
      expect.objectContaining({ day: '2026-11-15', outcome: KILLED, requests: 2, outputTokens: 13, costNanos: 13 }),
    ]);
    await killed();
    expect(await output()).toEqual([[KILLED, 13]]);
    await journal.close();
  });

  test.each([
    ['committed', (journal: UsageJournal) => journal.commit()],
    ['folded, with the store unavailable', (journal: UsageJournal) => journal.fold()],
    ['rewritten as sums', async (journal: UsageJournal) => [await journal.fold(), await journal.fold()]],
  ])('that have ended count once when their usage is %s', async (_, step) => {
    const live = [request({ outputTokens: 7 }), request({ outputTokens: 4 })];
    const { journal, killed } = await running(live, AWAY, { mostBytes: 1 });
    journal.writeLive();
    journal.add({ ...live.shift()!, outputTokens: 8 }, 0);
    await step(journal);
    await killed();
    expect(await output()).toEqual([
      ['ok', 8],
      [KILLED, 4],
    ]);
    await journal.close();
  });

  test('that have ended count once when they are in the store already', async () => {
    const live = [request({ outputTokens: 7 })];
    const { journal, killed } = await running(live);
    journal.writeLive();
    journal.add({ ...live.shift()!, outputTokens: 8 }, 0);
    await journal.fold();
    await killed();
    expect(await output()).toEqual([['ok', 8]]);
    await journal.close();
    expect(files()).toEqual([]);
  });

  test('count once when the next run is killed after it has folded a part', async () => {
    const live = [request({ outputTokens: 7 }), request({ outputTokens: 4 })];
    const { journal, killed } = await running(live, AWAY);
    journal.writeLive();
    journal.add({ ...live.shift()!, outputTokens: 8 }, 0);
    journal.commit();
    for (const steps of [0, 1, 2]) {
      let left = steps;
      const [here, next] = [folder, `${folder}-part-${steps}`];
      copyTo(next);
      for (const name of readdirSync(next)) if (name.endsWith('.lock')) rmSync(join(next, name));
      folder = next;
      const own = await openStore(':memory:');
      // The store takes a part, and does not reply to the last of it.
      const part = await open({
        fold: async (id, rows, gone) => {
          if (left-- <= 0) throw new Error('away');
          await own.usage.fold(id, rows, gone);
          if (left === 0) throw new Error('connection lost');
        },
      });
      await part.close();
      await (await open(own.usage)).close();
      const sums = await own.usage.query({ by: ['outcome'] });
      expect(sums.map((row) => [row.outcome, row.outputTokens])).toEqual([
        ['ok', 8],
        [KILLED, 4],
      ]);
      await own.close();
      folder = here;
    }
    await killed();
    await journal.close();
  });

  test('a full disk is reported, and no sums stay that would count twice', async () => {
    const live = [request({ outputTokens: 7 })];
    const { journal, killed } = await running(live, AWAY);
    journal.writeLive();
    disk.isFull = true;
    expect(journal.writeLive()).toBe(true);
    expect(faults).toEqual([expect.stringContaining('usage cannot be written (disk full)')]);
    disk.isFull = false;
    expect(files()).not.toContain('usage-RUN.live');
    journal.writeLive();
    disk.keepsAll = true;
    expect(journal.writeLive()).toBe(false);
    // Not offered while the sums of a stream that has ended cannot be replaced.
    journal.add(live.shift()!, 0);
    const before = journal.failedFolds;
    await journal.fold();
    expect(journal.failedFolds).toBe(before);
    disk.keepsAll = false;
    await killed();
    expect(await output()).toEqual([['ok', 7]]);
    await journal.close();
  });
});

describe('two live runs', () => {
  test('do not affect each other in one folder', async () => {
    const one = await open();
    for (let i = 0; i < 5; i++) one.add(request({ model: 'one' }), 0);
    one.commit();
    const two = await open();
    two.add(request({ model: 'two' }), 0);
    await two.fold();
    expect(await requests()).toBe(1);
    expect(journals()).toHaveLength(2);
    one.add(request({ model: 'one' }), 0);
    await Promise.all([one.close(), two.close()]);
    const sums = await store.usage.query({ by: ['model'] });
    expect(sums.map(({ model, requests: count }) => [model, count])).toEqual([
      ['one', 6],
      ['two', 1],
    ]);
    expect(files()).toEqual([]);
  });
});

describe('while the store is unavailable', () => {
  test('pending usage stays small, on disk and in memory, and nothing is lost', async () => {
    let isAway = true;
    const offered: string[] = [];
    const sink: UsageSink = {
      fold: async (id, rows, gone) => {
        offered.push(id + JSON.stringify(rows));
        if (isAway) throw new Error('away');
        await store.usage.fold(id, rows, gone);
      },
    };
    const journal = await open(sink, { mostBytes: 2000 });
    for (let i = 0; i < 3000; i++) {
      journal.add(request({ model: `m${i % 5}`, inputTokens: i, cachedTokens: 0 }), i);
      journal.commit();
      if (i % 50 === 0) await journal.fold();
      for (const name of journals()) expect(statSync(join(folder, name)).size).toBeLessThan(4000);
    }
    expect(journals()).toHaveLength(2);
    // A journal that may be in the store already is offered again unchanged.
    expect(new Set(offered).size).toBe(1);
    expect([journal.failedFolds, faults.length]).toEqual([60, 1]);
    isAway = false;
    await journal.fold();
    journal.add(request(), 0);
    isAway = true;
    await journal.fold();
    expect(faults).toHaveLength(2);
    isAway = false;
    await journal.close();
    const [sum] = await store.usage.query({ by: [] });
    expect(sum).toMatchObject({ requests: 3001, inputTokens: 4_498_500 + 10, costNanos: 4_498_500 });
    expect(files()).toEqual([]);
  });

  test('a fold whose reply was lost counts once', async () => {
    let responses = 0;
    const journal = await open({
      fold: async (id, rows, gone) => {
        await store.usage.fold(id, rows, gone);
        if (responses++ % 2 === 0) throw new Error('connection lost');
      },
    });
    for (let i = 0; i < 10; i++) {
      journal.add(request(), 0);
      await journal.fold();
    }
    await journal.close();
    expect([await requests(), files()]).toEqual([10, []]);
  });

  test('everything is left to the next run', async () => {
    const away: UsageSink = { fold: () => Promise.reject(new Error('away')) };
    const journal = await open(away);
    journal.add(request(), 0);
    await journal.fold();
    journal.add(request(), 0);
    await journal.close();
    expect(files()).toEqual(['usage-RUN-0.journal', 'usage-RUN-1.journal']);
    await (await open()).close();
    expect([await requests(), files()]).toEqual([2, []]);
  });
});

describe('where it cannot be written', () => {
  test('a gateway does not start', async () => {
    writeFileSync(folder, 'a file');
    await expect(open()).rejects.toThrowError(expect.objectContaining({ code: 'JOURNAL_NOT_WRITABLE', place: folder }));
    await expect(
      UsageJournal.open(join(folder, 'x'), store.usage, { epochUs: 0, onFault: () => {} }),
    ).rejects.toThrowError(
      /the usage journal cannot be written there \(a part of the path is not a folder\); give a folder/,
    );
  });

  test('a full disk is reported once, whole lines stay, and the sums go on', async () => {
    const journal = await open();
    const path = join(folder, journals()[0]!);
    journal.add(request(), 0);
    journal.commit();
    const before = readFileSync(path, 'utf8');
    disk.isFull = true;
    for (let i = 0; i < 3; i++) {
      journal.add(request(), 0);
      journal.commit();
    }
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect([journal.failedWrites, faults]).toEqual([
      3,
      [expect.stringMatching(/usage-.*: usage cannot be written \(disk full\); it is counted in memory/)],
    ]);
    await journal.fold();
    expect(await requests()).toBe(4);
    journal.add(request(), 0);
    journal.commit();
    expect(faults).toHaveLength(1);
    disk.isFull = false;
    await journal.fold();
    journal.add(request(), 0);
    journal.commit();
    expect(readFileSync(join(folder, journals()[0]!), 'utf8')).toContain('\n0 1 10');
    disk.isFull = true;
    journal.add(request(), 0);
    journal.commit();
    expect(faults).toHaveLength(2);
    await journal.close();
    expect([await requests(), files()]).toEqual([7, []]);
  });

  test('with the store unavailable as well, it is written again as soon as possible', async () => {
    let isAway = true;
    const journal = await open({
      fold: (id, rows, gone) => (isAway ? Promise.reject(new Error('away')) : store.usage.fold(id, rows, gone)),
    });
    journal.add(request(), 0);
    await journal.fold();
    disk.isFull = true;
    journal.add(request(), 0);
    await journal.fold();
    expect(journal.failedWrites).toBe(2);
    disk.isFull = false;
    await journal.fold();
    const [, second] = journals().map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(second).toMatch(/^0 \{.*\}\n0 1 10 4 3 2 0 0 0 0\n$/);
    journal.add(request(), 0);
    journal.commit();
    isAway = false;
    await journal.close();
    expect([await requests(), files()]).toEqual([3, []]);
  });

  test('a deleted folder stops no request', async () => {
    const journal = await open();
    rmSync(folder, { recursive: true });
    journal.add(request(), 0);
    await journal.fold();
    journal.add(request(), 0);
    await journal.close();
    expect(await requests()).toBe(2);
    expect(faults).toEqual([expect.stringContaining('cannot be written (its folder does not exist)')]);
  });
});
