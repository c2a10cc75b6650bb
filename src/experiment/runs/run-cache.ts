import { createHash } from 'node:crypto';
import { constants, existsSync, statfsSync } from 'node:fs';
import { access, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { replaceFile } from '../../files/replace-file.js';
import { cacheNotUsable } from '../errors.js';

/** Results of earlier runs by the hash of their shard. */
export interface RunCache {
  /** Undefined when there is none, or it is damaged. */
  get(hash: string): Promise<string | undefined>;
  /** Whether it is kept now: a full disk costs time later, not the result. */
  put(hash: string, result: string): boolean;
}

/** For experiments that keep nothing. */
export const NO_CACHE: RunCache = { get: async () => undefined, put: () => true };

/**
 * A folder with a file for each run. A file is written atomically and begins with a checksum of its content: what is
 * read is what was computed.
 */
export async function openRunCache(folder: string): Promise<RunCache> {
  try {
    await access(placeForFolders(folder), constants.W_OK);
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw cacheNotUsable(folder, error);
  }
  const fileOf = (hash: string) => join(folder, `${hash}.json`);
  return {
    async get(hash) {
      try {
        const text = await readFile(fileOf(hash), 'utf8');
        const end = text.indexOf('\n');
        const body = text.slice(end + 1);
        return text.slice(0, end) === checksum(body) ? body : undefined;
      } catch {
        return undefined;
      }
    },
    // At once: a signal is handled before or after, never in between.
    put(hash, result) {
      try {
        replaceFile(fileOf(hash), `${checksum(result)}\n${result}`);
        return true;
      } catch {
        return false;
      }
    },
  };
}

function checksum(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** The nearest folder above that exists. In some system folders, such as /proc, creating a folder never returns. */
function placeForFolders(folder: string): string {
  let place = resolve(folder);
  while (!existsSync(place)) place = dirname(place);
  if (statfsSync(place).blocks === 0) throw Object.assign(new Error('no room for files'), { code: 'EACCES' });
  return place;
}
