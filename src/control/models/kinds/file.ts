import { createHash } from 'node:crypto';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readProblem } from '../../../files/file-problem.js';
import type {
  Connection,
  ListQuery,
  ModelFile,
  ModelListing,
  ModelRegistry,
  OpenedFile,
  RegistryKind,
  RegistrySettings,
  ResolvedModel,
} from '../contract.js';
import { badToken, badUrl, fileChanged, isModelProblem, type ModelProblem, unusableFolder } from '../errors.js';
import { changeTag, folderFiles } from '../folder/folder-files.js';
import { findModelFolder, listModelFolders } from '../folder/model-folders.js';
import { realPathBelow } from '../folder/real-path.js';
import { checkModelName, checkVersion } from '../model-name.js';

const DEFAULT_LIMIT = 100;
/** Small enough not to block the event loop while it is hashed. */
const PIECE_BYTES = 2 ** 18;

/** A folder of models on this machine: `name/version` or `name`, each in the layout of the hub. */
export const fileRegistry: RegistryKind = {
  name: 'file',
  summary: 'A folder of models on this machine',
  defaultUrl: null,
  takesToken: false,
  open: (settings) => new FolderRegistry(settings),
};

class FolderRegistry implements ModelRegistry {
  readonly address: string;
  readonly #path: string;

  constructor({ place = 'registry', token, url }: RegistrySettings) {
    if (token !== undefined) throw badToken(`${place} (token)`, 'is not used by a folder', 'leave it out');
    this.#path = pathOf(url, `${place} (url)`);
    this.address = pathToFileURL(this.#path).href;
  }

  async connect(signal?: AbortSignal): Promise<Connection> {
    try {
      await this.#root(signal);
      return { connected: true };
    } catch (problem) {
      if (isModelProblem(problem)) return { connected: false, problem };
      throw problem;
    }
  }

  async list({ limit = DEFAULT_LIMIT, search = '' }: ListQuery, signal?: AbortSignal): Promise<ModelListing[]> {
    const wanted = search.toLowerCase();
    const models = await listModelFolders(await this.#root(signal));
    return models.filter(({ name }) => name.toLowerCase().includes(wanted)).slice(0, limit);
  }

  async resolve(name: string, version?: string, signal?: AbortSignal): Promise<ResolvedModel> {
    checkModelName(name);
    if (version !== undefined) checkVersion(name, version);
    const root = await this.#root(signal);
    const found = await findModelFolder(root, name, version, `${this.address}: model '${name}'`);
    try {
      const folder = await realPathBelow(root, found.folder, found.folder);
      const files = await folderFiles(root, folder);
      return { name, version: found.version, revision: digestOf(files), files, folder };
    } catch (error) {
      throw readable(error, found.folder);
    }
  }

  async open(model: ResolvedModel, file: ModelFile, offset: number, signal?: AbortSignal): Promise<OpenedFile> {
    const root = await this.#root(signal);
    const path = join(model.folder!, file.path);
    try {
      const real = await realPathBelow(root, path, path);
      if (changeTag(await stat(real, { bigint: true })) !== file.tag) throw fileChanged(path, 'has changed');
      return { begins: offset, bytes: readFrom(real, file, offset, signal) };
    } catch (error) {
      throw readable(error, path);
    }
  }

  async close(): Promise<void> {}

  async #root(signal: AbortSignal | undefined): Promise<string> {
    signal?.throwIfAborted();
    try {
      const root = await realpath(this.#path);
      await readdir(root);
      return root;
    } catch (error) {
      throw readable(error, this.address);
    }
  }
}

/** Errors of the file system as errors of the registry. */
function readable(error: unknown, place: string): ModelProblem {
  if (isModelProblem(error)) return error;
  const { path = place } = error as NodeJS.ErrnoException;
  return unusableFolder(path, `cannot be read (${readProblem(error)})`);
}

function pathOf(url: string | undefined, place: string): string {
  const accepted = "the URL of a folder, as in 'file:///models'";
  if (url === undefined) throw badUrl(place, 'is missing', accepted);
  try {
    return fileURLToPath(url).replace(/(?<=.)\/+$/, '');
  } catch {
    throw badUrl(place, 'is not the URL of a folder on this machine', accepted);
  }
}

function digestOf(files: readonly ModelFile[]): string {
  const facts = files.map(({ checksum, path, size, tag }) => [path, size, checksum?.hex ?? tag]);
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 40);
}

async function* readFrom(
  path: string,
  { size, tag }: ModelFile,
  offset: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const handle = await open(path, 'r').catch((error) => {
    throw readable(error, path);
  });
  try {
    for (let at = offset; at < size; ) {
      signal?.throwIfAborted();
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0 || changeTag(await handle.stat({ bigint: true })) !== tag) {
        throw fileChanged(path, 'changed while it was read');
      }
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
