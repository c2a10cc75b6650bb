import { cacheProblem } from '../cache/cache-problem.js';
import { type Manifest, manifestOf, totalBytes } from '../cache/manifest.js';
import type { ModelCache } from '../cache/model-cache.js';
import type { StagedModel } from '../cache/staged-model.js';
import type { Clock, ModelFile, ModelRegistry, ResolvedModel } from '../contract.js';
import { diskFull } from '../errors.js';
import { inParallel } from '../in-parallel.js';
import { systemClock } from '../system-clock.js';
import { downloadFile } from './download-file.js';
import { type FileSelection, selectFiles } from './select-files.js';
import { type OnProgress, TransferProgress } from './transfer-progress.js';

const USUAL_PARALLEL = 4;

export interface DownloadOptions {
  readonly registry: ModelRegistry;
  /** As resolved by the registry. */
  readonly model: ResolvedModel;
  readonly cache: ModelCache;
  readonly selection?: FileSelection;
  /** Concurrent files; 4 by default. */
  readonly parallel?: number;
  /** Copies a model into the cache even if it is on this machine already. */
  readonly copy?: boolean;
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface DownloadedModel {
  /** The path for engines. */
  readonly folder: string;
  readonly revision: string;
  /** Of the selected files. */
  readonly bytes: number;
  /** True: in the registry's own folder; false: in the cache. */
  readonly inPlace: boolean;
}

/**
 * Downloads a model into the cache, unless it is there: file by file, continuing an earlier download. Its folder appears when all
 * files are complete and verified. Of two processes that download the same model, the second waits and then finds it.
 */
export async function downloadModel(options: DownloadOptions): Promise<DownloadedModel> {
  const { cache, copy = false, model, registry, selection = {} } = options;
  const files = selectFiles(model.files, selection, `${registry.address}: ${model.name}`);
  const manifest = manifestOf(registry.address, model, files);
  const bytes = totalBytes(manifest);
  if (model.folder !== null && !copy) return { folder: model.folder, revision: model.revision, bytes, inPlace: true };
  try {
    const { folder } = (await cache.find(manifest)) ?? (await fetchIntoCache(options, manifest));
    return { folder, revision: model.revision, bytes, inPlace: false };
  } catch (error) {
    throw cacheProblem(error, cache.folder, bytes);
  }
}

async function fetchIntoCache(options: DownloadOptions, manifest: Manifest): Promise<{ folder: string }> {
  const { cache, clock = systemClock, onProgress = () => {}, parallel = USUAL_PARALLEL } = options;
  // The first failure ends the other files, and so does the caller's signal.
  const ended = new AbortController();
  const signal = options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
  signal.throwIfAborted();
  const progress = new TransferProgress(
    { bytes: totalBytes(manifest), files: manifest.files.length },
    clock,
    onProgress,
  );
  const lock = await cache.lock(manifest, clock, signal, () => progress.phase('waiting'));
  try {
    const found = await cache.find(manifest);
    if (found !== null) return found;
    const staged = await cache.stage(manifest);
    progress.phase('downloading');
    const missing = await missingFiles(staged, manifest, progress);
    await checkSpace(cache, staged, missing);
    await inParallel(missing, parallel, async (file) => {
      try {
        const count = progress.count.bind(progress);
        const path = staged.partialPath(file);
        await downloadFile({ registry: options.registry, model: options.model, file, path, clock, signal, count });
        await staged.complete(file);
        progress.fileDone();
      } catch (error) {
        ended.abort(error);
        throw error;
      }
    });
    progress.phase('publishing');
    await staged.publish();
    return (await cache.find(manifest))!;
  } finally {
    progress.end();
    lock.release();
  }
}

async function missingFiles(
  staged: StagedModel,
  { files }: Manifest,
  progress: TransferProgress,
): Promise<ModelFile[]> {
  const missing: ModelFile[] = [];
  for (const file of files) {
    if (await staged.has(file)) {
      progress.count(file.size, false);
      progress.fileDone();
    } else {
      missing.push(file);
    }
  }
  return missing;
}

async function checkSpace(cache: ModelCache, staged: StagedModel, missing: readonly ModelFile[]): Promise<void> {
  let needed = 0;
  for (const file of missing) needed += Math.max(0, file.size - (await staged.partialBytes(file)));
  const free = await cache.freeBytes();
  if (free !== null && needed > free) throw diskFull(cache.folder, needed, free);
}
