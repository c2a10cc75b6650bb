import { existsSync, rmSync } from 'node:fs';
import { storeFile } from '../database/store-address.js';
import type { Store } from '../open-store.js';
import { TABLES } from './backup-tables.js';

/** A store file that did not exist when this was created. */
export interface NewFile {
  /**
   * Deletes the file after a failure, unless the store has content by now.
   * @param opened the store, which is then closed; null when it could not be opened
   */
  discard(opened: Store | null): Promise<void>;
}

/** Null when the address names no file, or one that exists already and must not be deleted. */
export function newFile(address: string): NewFile | null {
  const path = storeFile(address);
  if (path === null || existsSync(path)) return null;
  return {
    async discard(opened) {
      if (opened !== null) {
        if (!(await isEmpty(opened))) return;
        await opened.close();
      }
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    },
  };
}

async function isEmpty({ db }: Store): Promise<boolean> {
  for (const { name } of TABLES) {
    if ((await db.selectFrom(name).selectAll().limit(1).executeTakeFirst()) !== undefined) return false;
  }
  return true;
}
