import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../open-store.js';
import { newFile } from './new-file.js';

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-new-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('a new store is deleted while it is empty, with its WAL files', async () => {
  const folder = folderOf();
  const path = join(folder, 'a.db');
  const made = newFile(path)!;
  const store = await openStore(path);
  expect(existsSync(path)).toBe(true);
  await made.discard(store);
  expect(readdirSync(folder)).toEqual([]);
  // The same for one that could not be opened.
  writeFileSync(path, '');
  await made.discard(null);
  expect(readdirSync(folder)).toEqual([]);
});

it('a store with content is kept, and so is a file that existed before', async () => {
  const path = join(folderOf(), 'a.db');
  const made = newFile(path)!;
  const store = await openStore(path);
  await store.settings.set('a', '1');
  await made.discard(store);
  expect(await store.settings.get('a')).toBe('1');
  await store.close();
  expect([newFile(path), newFile(':memory:'), newFile('postgres://h/d')]).toEqual([null, null, null]);
});
