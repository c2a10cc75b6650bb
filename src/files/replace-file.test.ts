import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replaceFile, replacePrivateFile } from './replace-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('replaceFile', () => {
  test('creates a file, then replaces its content, and leaves nothing else behind', () => {
    const path = join(folder, 'a.json');
    replaceFile(path, 'one');
    replaceFile(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  test('deletes the temporary file when it cannot be renamed', () => {
    const path = join(folder, 'taken');
    mkdirSync(path);
    writeFileSync(join(path, 'inside'), '');
    expect(() => replaceFile(path, 'one')).toThrow();
    expect(readdirSync(folder)).toEqual(['taken']);
  });
});

describe('replacePrivateFile', () => {
  test('makes a file that others could read private', () => {
    const path = join(folder, 'secret');
    writeFileSync(path, 'one', { mode: 0o644 });
    replacePrivateFile(path, 'two');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['two', 0o600]);
  });
});
