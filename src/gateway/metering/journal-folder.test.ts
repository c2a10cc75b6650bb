import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { JournalFolder } from './journal-folder.js';

const root = mkdtempSync(join(tmpdir(), 'twinyard-folder-'));
afterAll(() => rmSync(root, { recursive: true }));
const RUN = '01234567-89ab-cdef-0123-456789abcdef';
const LABEL = '0 {"keyId":"k","model":"m","endpoint":"e","day":"2026-11-15","outcome":"ok"}\n';

function folderWith(name: string, files: Record<string, string>): [folder: JournalFolder, path: string] {
  const path = join(root, name);
  const folder = new JournalFolder(path);
  folder.make();
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return [folder, path];
}

describe('a folder of journals', () => {
  test('returns those of dead runs in their order, and leaves other files alone', async () => {
    const [folder, path] = folderWith('order', {
      [`usage-${RUN}-10.journal`]: `${LABEL}0 1 10 0 0 0 0 0 0 0\n`,
      [`usage-${RUN}-9.journal`]: `${LABEL}0 1 9 0 0 0 0 0 0 0\n`,
      [`usage-${RUN}-9.journal.tmp`]: 'half',
      [`usage-${RUN}-8.journal.damaged`]: 'x',
      'usage-1-1.journal': 'x',
      'twinyard.db': 'x',
    });
    const left = await folder.left();
    expect(left.map(({ id, rows }) => [id, rows[0]!.inputTokens])).toEqual([
      [`${RUN}-9`, 9],
      [`${RUN}-10`, 10],
    ]);
    expect(left.map(({ lock }) => lock !== null)).toEqual([false, true]);
    expect(await folder.left()).toEqual([]);
    left[1]!.lock!.release();
    expect(readdirSync(path).sort()).toEqual([
      'twinyard.db',
      `usage-${RUN}-10.journal`,
      `usage-${RUN}-8.journal.damaged`,
      `usage-${RUN}-9.journal`,
      'usage-1-1.journal',
    ]);
  });

  test('skips a run that another process has folded meanwhile', async () => {
    const [folder, path] = folderWith('race', { [`usage-${RUN}-0.journal`]: '' });
    const left = folder.left();
    rmSync(join(path, `usage-${RUN}-0.journal`));
    expect(await left).toEqual([]);
    expect(readdirSync(path)).toEqual([]);
  });

  test('syncs to disk, and reports when it cannot', async () => {
    const [folder, path] = folderWith('sync', {});
    expect(await folder.sync()).toBe(true);
    rmSync(path, { recursive: true });
    expect(await folder.sync()).toBe(false);
  });
});
