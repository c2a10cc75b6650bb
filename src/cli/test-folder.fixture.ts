import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { captured, type Terminal } from './test-io.fixture.js';

/** Runs the tests of a file in their own folder, which is empty before each of them, and calls `fill`. */
export function inTestFolder(fill: () => void): void {
  let folder: string;
  let before: string;
  beforeAll(() => {
    before = process.cwd();
    folder = mkdtempSync(join(tmpdir(), 'twinyard-test-'));
    process.chdir(folder);
  });
  beforeEach(() => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    fill();
  });
  afterAll(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
}

/** The stdout of a command that succeeds without writing to stderr. */
export async function silent(args: string, terminal: Terminal = {}): Promise<string> {
  const ended = await captured(args, terminal);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return ended.stdout;
}
