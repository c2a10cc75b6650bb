import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { RotatedFile } from './rotated-file.js';

/** A disk that is full after half of a write, and may refuse to truncate. */
const disk = vi.hoisted(() => ({ isFull: false, isStuck: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const full = () => Object.assign(new Error('full'), { code: 'ENOSPC' });
  return {
    ...fs,
    writeSync(file: number, bytes: Buffer, from: number, length: number) {
      if (!disk.isFull) return fs.writeSync(file, bytes, from, length);
      if (length < 4) throw full();
      return fs.writeSync(file, bytes, from, Math.ceil(length / 2));
    },
    ftruncateSync(file: number, size: number) {
      if (disk.isStuck) throw full();
      fs.ftruncateSync(file, size);
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'twinyard-file-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  disk.isFull = false;
  disk.isStuck = false;
});

const path = () => join(folder, 'log');
const lines = (text: string) => Buffer.from(text);

describe('RotatedFile on a disk that is full', () => {
  it.each([
    ['takes half a piece back', false, 'one\nthree\n'],
    ['begins a new line behind half a piece that cannot be taken back', true, 'one\ntwo two t\nthree\n'],
  ])('%s', (_, isStuck, left) => {
    rmSync(path(), { force: true });
    const file = new RotatedFile(path(), 1000, 1);
    file.write(lines('one\n'), 0);
    disk.isFull = true;
    disk.isStuck = isStuck;
    expect(() => file.write(lines('two two two\n'), 0)).toThrow('full');
    disk.isFull = false;
    expect(file.write(lines('three\n'), 0)).toBe(6);
    file.close();
    expect(readFileSync(path(), 'utf8')).toBe(left);
  });

  it('does not count the new line as written when the disk was full', () => {
    rmSync(path(), { force: true });
    const file = new RotatedFile(path(), 1000, 1);
    file.write(lines('one\n'), 0);
    disk.isFull = true;
    disk.isStuck = true;
    for (let tries = 0; tries < 2; tries++) expect(() => file.write(lines('two two two\n'), 0)).toThrow('full');
    disk.isFull = false;
    file.write(lines('three\n'), 0);
    file.close();
    expect(readFileSync(path(), 'utf8')).toBe('one\ntwo two t\nthree\n');
  });
});
