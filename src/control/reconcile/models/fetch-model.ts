import { join } from 'node:path';
import type { ModelCache } from '../../models/cache/model-cache.js';
import type { Clock, ModelRegistry, ResolvedModel } from '../../models/contract.js';
import { folderSource } from '../../models/description/model-source.js';
import { downloadModel } from '../../models/download/download-model.js';
import type { FileSelection } from '../../models/download/select-files.js';
import type { DownloadProgress } from '../../models/download/transfer-progress.js';
import { nothingSelected } from '../../models/errors.js';
import { modelFacts } from '../../models/model-facts.js';
import type { FetchedModel } from './model-state.js';

/** A model as an endpoint names it. */
export interface RequestedModel {
  /** The ModelRegistry of the endpoint's workspace. */
  readonly registry: string;
  /** The address of the registry, without credentials: the same name elsewhere is another model. */
  readonly source: string;
  readonly name: string;
  readonly version: string | null;
  /** One file of it. */
  readonly file: string | null;
}

export interface FetchOptions {
  readonly registry: ModelRegistry;
  readonly cache: ModelCache;
  readonly requested: RequestedModel;
  /** The revision that was fetched before; null for the current one. */
  readonly revision: string | null;
  readonly onProgress: (progress: DownloadProgress) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** Downloads a model to this machine and reads its properties. */
export async function fetchModel(options: FetchOptions): Promise<FetchedModel> {
  const { requested, cache, clock, onProgress, registry, signal } = options;
  const resolved = await registry.resolve(requested.name, options.revision ?? requested.version ?? undefined, signal);
  const { bytes, folder, revision } = await downloadModel({
    ...{ registry, model: resolved, cache, signal, onProgress },
    selection: selectionOf(requested, resolved, registry.address),
    ...(clock === undefined ? {} : { clock }),
  });
  const { version } = resolved;
  const facts = {
    ...requested,
    found_version: version,
    revision,
    folder,
    bytes,
    ...(await modelFacts(await folderSource(folder), requested.name)),
  };
  return { path: pathIn(folder, requested), revision, facts };
}

export const pathIn = (folder: string, { file }: RequestedModel) => (file === null ? folder : join(folder, file));

/** All parts of a file that is split into several are selected. */
function selectionOf({ file, name }: RequestedModel, { files }: ResolvedModel, address: string): FileSelection {
  if (file === null) return {};
  if (!files.some(({ path }) => path === file)) throw nothingSelected(`${address}: ${name}`, `has no file '${file}'`);
  return { allow: [file.replace(/-\d{5}(-of-\d{5}\.gguf)$/, '-?????$1'), '*.json'] };
}
