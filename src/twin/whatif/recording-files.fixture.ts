import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder for the recordings of a test file. */
export function recordingFiles(): (name: string, text: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-whatif-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return (name, text) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
}
