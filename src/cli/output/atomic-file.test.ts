import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AtomicFile } from './atomic-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('AtomicFile', () => {
  it('appears only when it is published', () => {
    const path = join(folder, 'out.json');
    const file = new AtomicFile(path);
    file.write('one ');
    file.write(Buffer.from('two'));
    expect(readdirSync(folder)).not.toContain('out.json');
    file.publish();
    expect(readdirSync(folder)).toEqual(['out.json']);
    expect(readFileSync(path, 'utf8')).toBe('one two');
  });

  it('removes its file when it is discarded, and keeps the existing one', () => {
    const path = join(folder, 'out.json');
    writeFileSync(path, 'before');
    const file = new AtomicFile(path);
    file.write('half');
    file.discard();
    expect(readdirSync(folder)).toEqual(['out.json']);
    expect(readFileSync(path, 'utf8')).toBe('before');
  });

  it('can be discarded after it was published, without effect', () => {
    const path = join(folder, 'out.json');
    const file = new AtomicFile(path);
    file.write('whole');
    file.publish();
    file.discard();
    expect(readFileSync(path, 'utf8')).toBe('whole');
  });

  it('keeps the permissions of the file it replaces', () => {
    const path = join(folder, 'out.json');
    writeFileSync(path, 'before');
    chmodSync(path, 0o640);
    const file = new AtomicFile(path);
    file.publish();
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('replaces the file that a link points to', () => {
    writeFileSync(join(folder, 'real'), 'before');
    symlinkSync('real', join(folder, 'link'));
    const file = new AtomicFile(join(folder, 'link'));
    file.write('after');
    file.publish();
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('after');
    expect(readdirSync(folder).sort()).toEqual(['link', 'real']);
  });

  it('writes to devices as they are', () => {
    const file = new AtomicFile('/dev/null');
    file.write('gone');
    file.publish();
    expect(statSync('/dev/null').isFile()).toBe(false);
  });
});
