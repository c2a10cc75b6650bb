import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { captured, type Terminal } from './test-io.fixture.js';

/** Lets the tests of a file run in a folder of their own, which `fill` finds empty before each of them. */
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

/** What a command prints that succeeds and has nothing to say besides. */
export async function silent(args: string, terminal: Terminal = {}): Promise<string> {
  const ended = await captured(args, terminal);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return ended.stdout;
}
