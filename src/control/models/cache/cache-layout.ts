import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest, manifestId, nameFolder } from './manifest.js';

/** The folders of a cache. */
export const CACHE_PARTS = ['models', 'staging', 'blobs', 'locks', 'trash'] as const;

/** Where things are in a cache, and how they leave it. */
export class CacheLayout {
  constructor(readonly root: string) {}

  /** Where a model is once it is complete, below the root. */
  published(manifest: Manifest): string {
    return `models/${nameFolder(manifest.name)}/${manifestId(manifest)}`;
  }

  /** Where it is put together, below the root. */
  staging(manifest: Manifest): string {
    return `staging/${nameFolder(manifest.name)}/${manifestId(manifest)}`;
  }

  /** One lock for all revisions of a name, so that there are no more of them than names. */
  lockOf(name: string): string {
    return join(this.root, 'locks', `${name}.lock`);
  }

  /** The folders of two levels below a part: of a name, then of a revision; or of two digits, then of a blob. */
  async entries(part: 'models' | 'staging' | 'blobs'): Promise<{ group: string; path: string }[]> {
    const found: { group: string; path: string }[] = [];
    for (const group of await names(join(this.root, part))) {
      for (const name of await names(join(this.root, part, group))) {
        found.push({ group, path: join(this.root, part, group, name) });
      }
    }
    return found;
  }

  /**
   * Removes a folder, if it is there: it is gone at once, and its files one after the other. Returns the bytes that nobody else
   * links to.
   */
  async discard(folder: string): Promise<number> {
    const bin = await mkdtemp(join(this.root, 'trash', 'x'));
    await rename(folder, join(bin, 'x')).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const freed = await lonelyBytes(bin);
    await rm(bin, { recursive: true, force: true });
    return freed;
  }
}

/** In order; of a folder that is not there, none. */
export async function names(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

async function lonelyBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { nlink, size } = await lstat(join(entry.parentPath, entry.name));
    if (nlink === 1) bytes += size;
  }
  return bytes;
}
