import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

/** The path of a sample in `samples/`. */
export function samplePath(name: string): string {
  return fileURLToPath(new URL(`samples/${name}`, import.meta.url));
}

/** A folder for the files of one test file. Returns a function that writes a file and returns its path. */
export function temporaryFiles(): (name: string, content: Buffer | string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'trace-formats-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
}
