import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReplicaLog } from './replica-log.js';

const asIs = (line: string) => line;
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-log-'));
  path = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('is read without secrets, also one that was written in two parts', async () => {
  const known = new Set(['hush-hush-hush']);
  const scrub = (line: string) => [...known].reduce((text, one) => text.replaceAll(one, '***'), line);
  writeFileSync(path, 'first hush-hush-hush\nsecond hush-');
  const log = new ReplicaLog(folder, 1e6, scrub);
  const lines: string[] = [];
  const reading = (async () => {
    for await (const line of log.read({ follow: true })) lines.push(line);
  })();
  appendFileSync(path, 'hush-hush\nthird hush-hush-hush');
  log.isOver = true;
  await reading;
  expect(lines).toEqual(['first ***', 'second ***', 'third ***']);
  expect(await log.last(2)).toEqual(['second ***', 'third ***']);
});

describe('the last lines', () => {
  test('are read across files and split characters', async () => {
    const long = 'ä'.repeat(2000);
    const all = Array.from({ length: 200 }, (_, i) => `${i} ${long}`);
    writeFileSync(`${path}.1`, `${all.slice(0, 150).join('\n')}\n`);
    writeFileSync(path, `${all.slice(150).join('\n')}\n`);
    const log = new ReplicaLog(folder, 1e6, asIs);
    for (const count of [1, 49, 50, 51, 199, 200, 500]) expect(await log.last(count)).toEqual(all.slice(-count));
    expect(await log.last(0)).toEqual([]);
  });

  test('include an incomplete one, and may be none', async () => {
    writeFileSync(path, '');
    const log = new ReplicaLog(folder, 1e6, asIs);
    expect(await log.last(5)).toEqual([]);
    writeFileSync(path, 'one\ntwo\nthr');
    expect(await log.last(2)).toEqual(['two', 'thr']);
    expect(await read(log, { tail: 0 })).toEqual([]);
  });

  test('show progress lines as a terminal does, and are cut to a maximum', async () => {
    writeFileSync(path, `load: 1 %\rload: 50 %\rload: 100 %\r\nok\r\n${'x'.repeat(1e5)}\n`);
    const [progress, ok, long] = await new ReplicaLog(folder, 1e6, asIs).last(3);
    expect([progress, ok]).toEqual(['load: 100 %', 'ok']);
    expect(long!.length).toBeLessThan(5000);
  });
});

async function read(log: ReplicaLog, options: Parameters<ReplicaLog['read']>[0]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of log.read(options)) lines.push(line);
  return lines;
}

describe('a log', () => {
  test('that is too long is rotated; two files are kept', () => {
    const log = new ReplicaLog(folder, 100, asIs);
    writeFileSync(path, 'a'.repeat(100));
    log.tend();
    expect(readdirSync(folder)).toEqual(['log', 'log.times']);
    appendFileSync(path, 'b'.repeat(20));
    log.tend();
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('a'.repeat(100) + 'b'.repeat(20));
    expect(statSync(path).size).toBe(0);
    appendFileSync(path, 'c'.repeat(300_000));
    log.tend();
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('c'.repeat(200));
    expect(readdirSync(folder)).toEqual(['log', 'log.1', 'log.times']);
  });

  test.each([
    ['once between two looks, without a line lost', 1],
    ['more often, from what is still there', 2],
  ])('can be followed while it is rotated %s', async (_, rotations) => {
    const log = new ReplicaLog(folder, 60, asIs);
    let written = 0;
    const write = (count: number) => {
      for (let i = 0; i < count; i++) appendFileSync(path, `ne ${++written}\nli`);
    };
    writeFileSync(path, 'li');
    write(10);
    const seen: number[] = [];
    for await (const line of log.read({ tail: 3, follow: true })) {
      seen.push(Number(/^(?:line |li$)(\d*)$/.exec(line)?.[1]));
      if (seen.at(-1) !== written) continue;
      if (written > 60) log.isOver = true;
      else {
        write(10);
        for (let i = 0; i < rotations; i++) {
          log.tend();
          write(10);
        }
      }
    }
    // The beginning of a line that never came is the last that is read.
    expect(seen.pop()).toBe(0);
    expect([seen[0], seen.at(-1)]).toEqual([8, written]);
    for (let i = 1; i < seen.length; i++) expect(seen[i]).toBeGreaterThan(seen[i - 1]!);
    if (rotations === 1) expect(seen.length).toBe(written - 7);
    else expect(seen.length).toBeLessThan(written - 7);
  });

  test('that is complete is followed to its end', async () => {
    const log = new ReplicaLog(folder, 100, asIs);
    writeFileSync(path, 'one\ntwo\nthree');
    log.isOver = true;
    expect(await read(log, { follow: true })).toEqual(['one', 'two', 'three']);
  });
});

describe('lines since a time', () => {
  let now: number;
  const open = (mostBytes = 1e6) => new ReplicaLog(folder, mostBytes, asIs, () => now);
  const write = (log: ReplicaLog, at: number, text: string) => {
    appendFileSync(path, text);
    now = at;
    log.tend();
  };

  test('are none too few, and at most those of a second too many, also after a restart', async () => {
    const first = open();
    write(first, 1000, 'a\n');
    write(first, 2000, 'b\n');
    write(first, 3000, '');
    write(first, 4000, 'c\nd');
    write(first, 5000, 'd\n');
    appendFileSync(path, 'e\n');
    for (const log of [first, open()]) {
      expect(await read(log, { since: 0 })).toEqual(['a', 'b', 'c', 'dd', 'e']);
      expect(await read(log, { since: 1000 })).toEqual(['b', 'c', 'dd', 'e']);
      expect(await read(log, { since: 2500 })).toEqual(['c', 'dd', 'e']);
      // The line was begun before and completed after it.
      expect(await read(log, { since: 4500 })).toEqual(['dd', 'e']);
      expect(await read(log, { since: 9000 })).toEqual(['e']);
      expect(await read(log, { since: 1000, tail: 2 })).toEqual(['dd', 'e']);
      expect(await read(log, { since: 9000, tail: 2 })).toEqual(['e']);
    }
  });

  test('are found in a log that was rotated', async () => {
    const first = open(20);
    for (let i = 1; i <= 20; i++) write(first, i * 1000, `line ${i}\n`);
    for (const log of [first, open(20)]) {
      expect(await read(log, { since: 17_000 })).toEqual(['line 18', 'line 19', 'line 20']);
      const all = await read(log, { since: 0 });
      expect(all.at(-1)).toBe('line 20');
      expect(all.length).toBeLessThan(10);
    }
  });

  test('are exact for recent times in an index of a bounded size', async () => {
    const log = open();
    const count = 20_000;
    for (let i = 1; i <= count; i++) write(log, i * 1000, `${i}\n`);
    expect(statSync(`${path}.times`).size).toBeLessThan(9000 * 20);
    for (const opened of [log, open()]) {
      expect((await read(opened, { since: (count - 3000) * 1000 }))[0]).toBe(String(count - 2999));
      const [early] = await read(opened, { since: 5000 * 1000 });
      expect(Number(early)).toBeLessThanOrEqual(5001);
      expect(Number(early)).toBeGreaterThan(4000);
    }
  });

  test('of an index that cannot be written are exact until a restart', async () => {
    mkdirSync(`${path}.times`);
    const log = open();
    write(log, 1000, 'a\n');
    write(log, 2000, 'b\n');
    expect(await read(log, { since: 1500 })).toEqual(['b']);
    expect(await read(open(), { since: 1500 })).toEqual(['a', 'b']);
    rmSync(`${path}.times`, { recursive: true });
    write(log, 3000, 'c\n');
    expect(await read(open(), { since: 1500 })).toEqual(['b', 'c']);
  });

  test('pass over damaged lines of the index', async () => {
    const log = open();
    write(log, 1000, 'a\n');
    write(log, 2000, 'b\n');
    appendFileSync(`${path}.times`, 'x\n3000 4');
    expect(await read(open(), { since: 1000 })).toEqual(['b']);
  });
});

describe('a position', () => {
  test('continues behind its line, after a rotation and after a restart', async () => {
    const first = new ReplicaLog(folder, 30, asIs);
    writeFileSync(path, 'one\ntwo\nthr');
    const cursor = { position: null };
    const followed = first.read({ follow: true, cursor });
    expect([(await followed.next()).value, cursor.position]).toEqual(['one', '4']);
    expect([(await followed.next()).value, cursor.position]).toEqual(['two', '8']);
    // A control plane that leaves returns no half line.
    first.isReleased = true;
    expect((await followed.next()).done).toBe(true);
    appendFileSync(path, `ee\n${'x'.repeat(30)}\n`);
    first.tend();
    appendFileSync(path, 'last\n');
    for (const log of [first, new ReplicaLog(folder, 30, asIs)]) {
      expect(await read(log, { cursor: { position: '8' } })).toEqual(['three', 'x'.repeat(30), 'last']);
    }
  });

  test('of lines that are gone continues with the oldest complete line; one that is not valid does not count', async () => {
    const log = new ReplicaLog(folder, 30, asIs);
    writeFileSync(path, '');
    for (let i = 0; i < 20; i++) {
      appendFileSync(path, `line ${i}\n`);
      log.tend();
    }
    const [first, ...others] = await read(log, { cursor: { position: '0' } });
    expect(first).toMatch(/^line \d+$/);
    expect(others.at(-1)).toBe('line 19');
    expect(await read(log, { cursor: { position: '999999' } })).toEqual([]);
    expect(await read(log, { cursor: { position: 'x' }, tail: 1 })).toEqual(['line 19']);
  });
});
