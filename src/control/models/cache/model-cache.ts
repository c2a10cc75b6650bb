import { realpath, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FileLock } from '../../../files/file-lock.js';
import { makeFolder } from '../../../files/make-folder.js';
import type { Clock } from '../contract.js';
import { CACHE_PARTS, CacheLayout } from './cache-layout.js';
import { cacheProblem } from './cache-problem.js';
import { ensureFolder } from './ensure-folder.js';
import { type Manifest, nameFolder, readManifest, totalBytes } from './manifest.js';
import { pruneCache } from './prune-cache.js';
import { isFileOf, StagedModel } from './staged-model.js';

export interface CachedModel extends Omit<Manifest, 'files'> {
  /** For engines: the model's files and nothing else. */
  readonly folder: string;
  /** Of all its files, downloaded or not. */
  readonly bytes: number;
  /** False for an interrupted or running download. */
  readonly complete: boolean;
}

/**
 * A folder of downloaded models, shared by any number of processes of one machine:
 * `models/<name>/<revision>-<digest>/files` appear when they are complete; `staging/` holds running downloads, `blobs/` links to
 * large files by their SHA-256, `locks/` a lock per name, `trash/` what is being removed.
 */
export class ModelCache {
  readonly #layout: CacheLayout;

  private constructor(layout: CacheLayout) {
    this.#layout = layout;
  }

  /** Creates the folder if it does not exist. */
  static async open(folder: string): Promise<ModelCache> {
    try {
      // Readable by the owner only: models may be private.
      makeFolder(folder);
      const root = await realpath(folder);
      for (const part of CACHE_PARTS) await ensureFolder(root, part);
      return new ModelCache(new CacheLayout(root));
    } catch (error) {
      throw cacheProblem(error, folder);
    }
  }

  get folder(): string {
    return this.#layout.root;
  }

  /** The model if it is complete, else null. */
  async find(manifest: Manifest): Promise<CachedModel | null> {
    const home = join(this.#layout.root, this.#layout.published(manifest));
    if ((await readManifest(home)) === null) return null;
    for (const { path, size } of manifest.files) {
      if (!(await isFileOf(join(home, 'files', path), size))) return null;
    }
    return cachedModel(home, manifest, true);
  }

  /** All models ordered by name, complete ones first. */
  async list(): Promise<CachedModel[]> {
    const found: CachedModel[] = [];
    for (const { path } of await this.#layout.entries('models')) {
      const manifest = await readManifest(path);
      if (manifest !== null) found.push(cachedModel(path, manifest, true));
    }
    for (const { path } of await this.#layout.entries('staging')) {
      const manifest = await readManifest(join(path, 'model'));
      if (manifest !== null) found.push(cachedModel(join(path, 'model'), manifest, false));
    }
    return found;
  }

  /**
   * Removes unused models, and large files that belong to no model any more. Running downloads and models that `inUse` accepts are
   * kept. Returns the bytes that were freed.
   */
  async prune(inUse: (model: CachedModel) => boolean): Promise<number> {
    try {
      return await pruneCache(this.#layout, await this.list(), inUse);
    } catch (error) {
      throw cacheProblem(error, this.folder);
    }
  }

  /** Waits until no other process downloads a model of this name; `onWait` is called once if one does. */
  lock({ name }: Manifest, clock: Clock, signal: AbortSignal, onWait: () => void): Promise<FileLock> {
    return FileLock.wait(this.#layout.lockOf(nameFolder(name)), (ms) => clock.sleep(ms, signal), onWait);
  }

  /** Starts or continues a download. The caller must hold the lock. */
  stage(manifest: Manifest): Promise<StagedModel> {
    return StagedModel.begin(this.#layout, manifest);
  }

  /** Free disk space; null where the system does not report it. */
  async freeBytes(): Promise<number | null> {
    const stats = await statfs(this.#layout.root).catch(() => null);
    return stats === null ? null : stats.bavail * stats.bsize;
  }
}

function cachedModel(home: string, manifest: Manifest, complete: boolean): CachedModel {
  const { files: _, ...rest } = manifest;
  return { ...rest, folder: join(home, 'files'), bytes: totalBytes(manifest), complete };
}
