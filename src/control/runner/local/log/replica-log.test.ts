import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lastLines } from './last-lines.js';
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
    expect((await lastLines([`${path}.1`, path], 0, asIs)).lines).toEqual([]);
  });

  test('include an incomplete one, and may be none', async () => {
    const log = new ReplicaLog(folder, 1e6, asIs);
    expect(await log.last(5)).toEqual([]);
    writeFileSync(path, 'one\ntwo\nthr');
    expect(await log.last(2)).toEqual(['two', 'thr']);
    expect(await read(log, { lines: 0 })).toEqual([]);
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
    log.rotateIfLong();
    expect(readdirSync(folder)).toEqual(['log']);
    appendFileSync(path, 'b'.repeat(20));
    log.rotateIfLong();
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('a'.repeat(100) + 'b'.repeat(20));
    expect(statSync(path).size).toBe(0);
    appendFileSync(path, 'c'.repeat(300_000));
    log.rotateIfLong();
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('c'.repeat(200));
    expect(readdirSync(folder)).toEqual(['log', 'log.1']);
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
    for await (const line of log.read({ lines: 3, follow: true })) {
      seen.push(Number(/^(?:line |li$)(\d*)$/.exec(line)?.[1]));
      if (seen.at(-1) !== written) continue;
      if (written > 60) log.isOver = true;
      else {
        write(10);
        for (let i = 0; i < rotations; i++) {
          log.rotateIfLong();
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
