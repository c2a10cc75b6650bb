import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newRecordingKey, readRecordingKey } from './recording-key.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('readRecordingKey', () => {
  it('creates a key once, readable by its owner only, and reads it again', () => {
    const path = join(folder, 'traffic.jsonl.key');
    const key = readRecordingKey(path);
    expect([key.length, statSync(path).mode & 0o777]).toEqual([32, 0o600]);
    expect(readRecordingKey(path)).toEqual(key);
    expect(readRecordingKey(join(folder, 'other.key'))).not.toEqual(key);
  });

  it('takes a file that was left empty for none, and leaves no other file behind', () => {
    const path = join(folder, 'empty', 'a.key');
    mkdirSync(join(folder, 'empty'));
    writeFileSync(path, '');
    const key = readRecordingKey(path);
    expect([key.length, statSync(path).mode & 0o777]).toEqual([32, 0o600]);
    expect(readRecordingKey(path)).toEqual(key);
    expect(readdirSync(join(folder, 'empty'))).toEqual(['a.key']);
  });

  it.each([
    ['a file that holds something else', 'no key', 'does not hold 64 hexadecimal digits'],
    ['a file that was cut off', newRecordingKey().toString('hex').slice(1), 'does not hold 64 hexadecimal digits'],
    ['a folder', null, 'cannot be read (is a folder)'],
  ])('refuses %s', (_, content, problem) => {
    const path = join(folder, 'bad.key');
    rmSync(path, { recursive: true, force: true });
    if (content === null) mkdirSync(path);
    else writeFileSync(path, content);
    expect(() => readRecordingKey(path)).toThrowError(
      expect.objectContaining({ code: 'RECORDING_KEY_UNUSABLE', place: path, problem }),
    );
  });

  it('reports a path that cannot be used', () => {
    expect(() => readRecordingKey(join(folder, 'none', 'a.key'))).toThrowError(
      expect.objectContaining({
        code: 'OUTPUT_NOT_WRITABLE',
        problem: 'cannot be written (its folder does not exist)',
      }),
    );
  });
});
