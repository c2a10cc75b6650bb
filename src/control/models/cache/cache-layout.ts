import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest, manifestId, nameFolder } from './manifest.js';

/** The folders of a cache. */
export const CACHE_PARTS = ['models', 'staging', 'blobs', 'locks', 'trash'] as const;

/** The paths of a cache, and the removal of folders. */
export class CacheLayout {
  constructor(readonly root: string) {}

  /** The folder of a complete model, below the root. */
  published(manifest: Manifest): string {
    return `models/${nameFolder(manifest.name)}/${manifestId(manifest)}`;
  }

  /** The folder of a download in progress, below the root. */
  staging(manifest: Manifest): string {
    return `staging/${nameFolder(manifest.name)}/${manifestId(manifest)}`;
  }

  /** One lock for all revisions of a name, so that there are no more locks than names. */
  lockOf(name: string): string {
    return join(this.root, 'locks', `${name}.lock`);
  }

  /** The entries two levels below a part: by name and revision, or by two digits and blob. */
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
   * Removes a folder if it exists: it disappears at once, its files one after the other. Returns the bytes that have no other
   * link.
   */
  async discard(folder: string): Promise<number> {
    const bin = await mkdtemp(join(this.root, 'trash', 'x'));
    await rename(folder, join(bin, 'x')).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const freed = await unlinkedBytes(bin);
    await rm(bin, { recursive: true, force: true });
    return freed;
  }
}

/** Sorted; empty for a folder that does not exist. */
export async function names(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

async function unlinkedBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { nlink, size } = await lstat(join(entry.parentPath, entry.name));
    if (nlink === 1) bytes += size;
  }
  return bytes;
}
