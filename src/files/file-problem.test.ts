import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { folderProblem, isDenied, isDiskFull, readProblem, writeProblem } from './file-problem.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-problem-'));
afterAll(() => rmSync(folder, { recursive: true }));

function errorOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('it worked');
}

const coded = (code: string) => Object.assign(new Error('what libuv says'), { code });

describe('errors of the operating system in words', () => {
  test('when a file is read', () => {
    expect(readProblem(errorOf(() => readFileSync(join(folder, 'none'))))).toBe('no such file');
    expect(readProblem(errorOf(() => readFileSync(folder)))).toBe('is a folder');
  });

  test('when a file is written', () => {
    expect(writeProblem(errorOf(() => writeFileSync(join(folder, 'none', 'x'), '')))).toBe('its folder does not exist');
    writeFileSync(join(folder, 'file'), '');
    expect(writeProblem(errorOf(() => writeFileSync(join(folder, 'file', 'x'), '')))).toBe(
      'a part of the path is not a folder',
    );
    expect(writeProblem(coded('ENOSPC'))).toBe('disk full');
  });

  test('when a folder is used', () => {
    expect([coded('ENOENT'), coded('EEXIST'), coded('EACCES')].map(folderProblem)).toEqual([
      'no such folder',
      'is not a folder',
      'permission denied',
    ]);
  });

  test('a code without words is shown as it is, and an error without a code by its message', () => {
    expect(readProblem(coded('EWEIRD'))).toBe('EWEIRD');
    expect(writeProblem(new Error('odd'))).toBe('odd');
    expect(writeProblem('odd')).toBe('odd');
  });

  test('a full disk and missing permissions are distinguished', () => {
    expect([coded('ENOSPC'), coded('EDQUOT'), coded('EACCES')].map(isDiskFull)).toEqual([true, true, false]);
    expect([coded('EACCES'), coded('EPERM'), coded('EROFS'), coded('EIO')].map(isDenied)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
