import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FileLock } from '../../../files/file-lock.js';
import { type CacheLayout, names } from './cache-layout.js';
import type { CachedModel } from './model-cache.js';

/**
 * Needs no lock of the whole cache: a blob with a single link belongs to no model, and a download that uses one first adds a link. At
 * worst a blob is removed that has just been linked: the link keeps the bytes.
 */
export async function pruneCache(
  layout: CacheLayout,
  models: readonly CachedModel[],
  inUse: (model: CachedModel) => boolean,
): Promise<number> {
  const kept = new Set(models.filter(inUse).map(({ folder }) => folder));
  let freed = 0;
  for (const { path } of await layout.entries('models')) {
    if (!kept.has(join(path, 'files'))) freed += await layout.discard(path);
  }
  for (const { group, path } of await layout.entries('staging')) {
    if (kept.has(join(path, 'model', 'files'))) continue;
    const lock = await FileLock.take(layout.lockOf(group));
    if (lock === null) continue;
    try {
      freed += await layout.discard(path);
    } finally {
      lock.release();
    }
  }
  for (const { path } of await layout.entries('blobs')) {
    const stats = await lstat(path).catch(() => null);
    if (stats === null || stats.nlink > 1) continue;
    await rm(path, { force: true });
    freed += stats.size;
  }
  // Left behind by processes that were killed.
  for (const name of await names(join(layout.root, 'trash'))) {
    await rm(join(layout.root, 'trash', name), { recursive: true, force: true });
  }
  return freed;
}
