import { createHash } from 'node:crypto';
import { chmod, link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModelFile } from '../contract.js';
import { unusableCache } from '../errors.js';
import type { CacheLayout } from './cache-layout.js';
import { ensureFolder } from './ensure-folder.js';
import { type Manifest, writeManifest } from './manifest.js';

/**
 * A model that is being downloaded: `partial/` holds incomplete files, `model/` complete and verified ones. A file with a SHA-256 is
 * also linked into `blobs/`, so that another revision with the same weights does not download them again; any link keeps the
 * bytes.
 */
export class StagedModel {
  readonly #layout: CacheLayout;
  readonly #manifest: Manifest;
  readonly #partial: string;
  readonly #model: string;
  readonly #files: string;

  private constructor(
    layout: CacheLayout,
    manifest: Manifest,
    folders: { partial: string; model: string; files: string },
  ) {
    this.#layout = layout;
    this.#manifest = manifest;
    this.#partial = folders.partial;
    this.#model = folders.model;
    this.#files = folders.files;
  }

  /** Starts, or continues an earlier download. The caller must hold the lock of this model. */
  static async begin(layout: CacheLayout, manifest: Manifest): Promise<StagedModel> {
    const staging = layout.staging(manifest);
    const partial = await ensureFolder(layout.root, `${staging}/partial`);
    const model = await ensureFolder(layout.root, `${staging}/model`);
    const files = await ensureFolder(layout.root, `${staging}/model/files`);
    await writeManifest(model, manifest);
    return new StagedModel(layout, manifest, { partial, model, files });
  }

  partialPath({ path }: ModelFile): string {
    return join(this.#partial, createHash('sha256').update(path).digest('hex').slice(0, 32));
  }

  /** How much of a file has been downloaded, verified or not. */
  async partialBytes(file: ModelFile): Promise<number> {
    return (await lstat(this.partialPath(file)).catch(() => ({ size: 0 }))).size;
  }

  /** Whether a file exists, from an earlier download of this model or of another one with the same bytes. */
  async has(file: ModelFile): Promise<boolean> {
    const path = await this.#place(file);
    if (await isFileOf(path, file.size)) return true;
    const blob = await this.#blob(file);
    if (blob === null || !(await isFileOf(blob, file.size))) return false;
    return link(blob, path).then(
      () => true,
      () => false,
    );
  }

  /** Moves a complete and verified file into place. */
  async complete(file: ModelFile): Promise<void> {
    const path = await this.#place(file);
    await rename(this.partialPath(file), path);
    // It may be shared with other models: nothing should write to it.
    await chmod(path, 0o444);
    const blob = await this.#blob(file);
    // Sharing is optional: some file systems have no hard links.
    if (blob !== null) await link(path, blob).catch(() => {});
  }

  /** Publishes the model atomically. */
  async publish(): Promise<void> {
    for (const file of this.#manifest.files) {
      const path = await this.#place(file);
      if (!(await isFileOf(path, file.size))) throw unusableCache(path, 'was changed while the model was downloaded');
    }
    const { root } = this.#layout;
    const published = this.#layout.published(this.#manifest);
    const shelf = await ensureFolder(root, dirname(published));
    // An existing folder has lost files: a complete one is never downloaded again.
    await this.#layout.discard(join(root, published));
    await rename(this.#model, join(root, published));
    await syncFolder(shelf);
    await rm(join(root, this.#layout.staging(this.#manifest)), { recursive: true, force: true });
  }

  async #place({ path }: ModelFile): Promise<string> {
    const below = dirname(path);
    return join(
      below === '.' ? this.#files : await ensureFolder(this.#files, below),
      path.slice(path.lastIndexOf('/') + 1),
    );
  }

  async #blob({ checksum }: ModelFile): Promise<string | null> {
    if (checksum?.algorithm !== 'sha256') return null;
    const folder = await ensureFolder(this.#layout.root, `blobs/${checksum.hex.slice(0, 2)}`);
    return join(folder, checksum.hex);
  }
}

/** Whether this is a regular file of this size, not a link. */
export async function isFileOf(path: string, size: number): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats?.isFile() === true && stats.size === size;
}

/** Makes a rename survive a power cut, where the system supports it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
