import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { RotatedLines } from './rotated-lines.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
const newPath = () => {
  const inside = join(folder, String(made++));
  mkdirSync(inside);
  return join(inside, 'log.jsonl');
};
const noFailure = (error: unknown) => {
  throw error;
};
const linesAt = (path: string, { maxBytes = 1e6, files = 3 } = {}) =>
  new RotatedLines({ path, maxBytes, files, failed: noFailure });
const text = (path: string) => readFileSync(path, 'utf8');

describe('RotatedLines', () => {
  it('writes lines in order, readable by the owner only, on flush or when there are many', () => {
    const path = newPath();
    const lines = linesAt(path);
    lines.write('first');
    expect([text(path), lines.written]).toEqual(['', 0]);
    lines.flush();
    lines.write('second');
    lines.close();
    expect(text(path)).toBe('first\nsecond\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const many = linesAt(path);
    for (let i = 0; i < 700; i++) many.write('x'.repeat(99));
    expect(statSync(path).size).toBeGreaterThan(64 * 1024);
    expect([many.written, many.dropped, many.isBroken]).toEqual([656, 0, false]);
    many.close();
    expect(many.written).toBe(700);
  });

  it('continues the file of an earlier run, on a new line', () => {
    const path = newPath();
    writeFileSync(path, 'whole\nha');
    const lines = linesAt(path);
    lines.write('next');
    lines.close();
    expect(text(path)).toBe('whole\nha\nnext\n');
  });

  it('starts a new file when one is full, and keeps a number of old ones', () => {
    const path = newPath();
    for (let i = 0; i < 9; i++) {
      const lines = linesAt(path, { maxBytes: 20, files: 2 });
      lines.write(`line ${i}, 1`);
      lines.write(`line ${i}, 2`);
      lines.close();
    }
    expect(readdirSync(join(path, '..')).sort()).toEqual(['log.jsonl', 'log.jsonl.1', 'log.jsonl.2']);
    expect([`${path}.2`, `${path}.1`, path].map(text)).toEqual([
      'line 6, 1\nline 6, 2\n',
      'line 7, 1\nline 7, 2\n',
      'line 8, 1\nline 8, 2\n',
    ]);
  });

  it('keeps no old file when configured so', () => {
    const path = newPath();
    const lines = linesAt(path, { maxBytes: 8, files: 0 });
    for (const line of ['one', 'two', 'three', 'four']) lines.write(line);
    lines.close();
    expect(readdirSync(join(path, '..'))).toEqual(['log.jsonl']);
    expect(text(path)).toBe('four\n');
  });

  it('cuts no line, loses none and bounds every file, for any order of writes and flushes', () => {
    const step = fc.tuple(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 60 }), (steps, maxBytes) => {
        const path = newPath();
        const lines = linesAt(path, { maxBytes, files: 100 });
        const wanted = steps.map(([line]) => line.replace(/[\n\ud800-\udfff]/g, ''));
        steps.forEach(([, flush], i) => {
          lines.write(wanted[i]!);
          if (flush) lines.flush();
        });
        lines.close();
        const rotated = readdirSync(join(path, '..')).length - 1;
        const files = Array.from({ length: rotated }, (_, i) => `${path}.${rotated - i}`).concat(path);
        const contents = files.map(text);
        expect(contents.join('')).toBe(wanted.map((line) => `${line}\n`).join(''));
        for (const content of contents) {
          const isOneLine = content.indexOf('\n') === content.length - 1;
          expect(content === '' || content.endsWith('\n')).toBe(true);
          expect(isOneLine || Buffer.byteLength(content) <= maxBytes).toBe(true);
        }
        expect([lines.written, lines.dropped]).toEqual([wanted.length, 0]);
      }),
      { numRuns: 50 },
    );
  });

  it('starts a new file when the files have been deleted', () => {
    const path = newPath();
    const lines = linesAt(path, { maxBytes: 8 });
    lines.write('one');
    lines.flush();
    rmSync(path);
    for (const line of ['two', 'three']) lines.write(line);
    lines.close();
    expect([text(path), existsSync(`${path}.1`)]).toEqual(['three\n', false]);
  });

  it('reports a path that cannot be written', () => {
    expect(() => linesAt(join(folder, 'none', 'a.log'))).toThrowError(
      expect.objectContaining({
        code: 'OUTPUT_NOT_WRITABLE',
        problem: 'cannot be written (its folder does not exist)',
      }),
    );
  });

  it('reports lost lines once, counts them, and does not rotate what is not a file', ({ skip }) => {
    skip(!existsSync('/dev/full'), 'there is no /dev/full here');
    const failures: unknown[] = [];
    const lines = new RotatedLines({
      path: '/dev/full',
      maxBytes: 4,
      files: 1,
      failed: (error) => failures.push(error),
    });
    for (const line of ['one', 'two', 'three']) {
      lines.write(line);
      lines.write(line);
      lines.flush();
    }
    lines.close();
    lines.write('late');
    expect([lines.isBroken, lines.written, lines.dropped]).toEqual([true, 0, 7]);
    expect(failures.map(String)).toEqual([
      'Error: /dev/full: cannot be written (disk full); lines are dropped until it can',
    ]);
  });

  it('rotates old files no further than needed', () => {
    const path = newPath();
    writeFileSync(`${path}.2`, 'old\n');
    writeFileSync(`${path}.3`, 'older\n');
    const lines = linesAt(path, { maxBytes: 8 });
    for (const line of ['first', 'second']) lines.write(line);
    lines.close();
    expect([path, `${path}.1`, `${path}.2`, `${path}.3`].map(text)).toEqual([
      'second\n',
      'first\n',
      'old\n',
      'older\n',
    ]);
  });

  it('continues when lines can be written again', () => {
    const path = newPath();
    const failures: unknown[] = [];
    const lines = new RotatedLines({ path, maxBytes: 8, files: 1, failed: (error) => failures.push(error) });
    const put = (line: string) => {
      lines.write(line);
      lines.flush();
    };
    put('first');
    // A folder cannot be replaced by a file.
    mkdirSync(`${path}.1`);
    put('second');
    put('third');
    expect([lines.isBroken, lines.written, lines.dropped, failures.length]).toEqual([true, 1, 2, 1]);
    rmdirSync(`${path}.1`);
    put('fourth');
    expect([lines.isBroken, lines.written, lines.dropped, failures.length]).toEqual([false, 2, 2, 1]);
    lines.close();
    expect([text(path), text(`${path}.1`)]).toEqual(['fourth\n', 'first\n']);
  });

  it('writes to stderr without waiting for its reader', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const waiting = vi.spyOn(process.stderr, 'writableLength', 'get').mockReturnValue(0);
    const failures: unknown[] = [];
    const lines = new RotatedLines({ path: '-', maxBytes: 4, files: 1, failed: (error) => failures.push(error) });
    lines.write('one');
    lines.write('two');
    lines.flush();
    waiting.mockReturnValue(2 ** 30);
    lines.write('three');
    lines.close();
    const told = write.mock.calls.map(([piece]) => String(piece));
    write.mockRestore();
    waiting.mockRestore();
    expect(told).toEqual(['one\ntwo\n']);
    expect([lines.written, lines.dropped, failures.map(String)]).toEqual([
      ...[2, 1],
      ['Error: stderr: cannot be written (it is not being read); lines are dropped until it can'],
    ]);
  });
});
