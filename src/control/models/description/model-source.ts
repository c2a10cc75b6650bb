import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readProblem } from '../../../files/file-problem.js';
import { retrying } from '../back-off.js';
import type { Clock, ModelRegistry, ResolvedModel } from '../contract.js';
import { badWeights, unusableFolder } from '../errors.js';
import { systemClock } from '../system-clock.js';

/** Read access to the files of a model, wherever they are. */
export interface ModelSource {
  /** Used in errors. */
  readonly place: string;
  readonly sizes: ReadonlyMap<string, number>;
  /** Exactly these bytes of a file. */
  read(path: string, offset: number, length: number): Promise<Buffer>;
}

/** A model on this machine. */
export async function folderSource(folder: string): Promise<ModelSource> {
  const sizes = new Map<string, number>();
  try {
    for (const name of (await readdir(folder)).sort()) {
      const stats = await stat(join(folder, name));
      if (stats.isFile()) sizes.set(name, stats.size);
    }
  } catch (error) {
    throw unusableFolder(folder, `cannot be read (${readProblem(error)})`);
  }
  return { place: folder, sizes, read: (path, offset, length) => readFile(join(folder, path), offset, length) };
}

/** A model of a registry, of which only a few kilobytes are read. */
export function registrySource(
  registry: ModelRegistry,
  model: ResolvedModel,
  signal?: AbortSignal,
  clock: Clock = systemClock,
): ModelSource {
  const files = new Map(model.files.map((file) => [file.path, file]));
  const place = `${registry.address}/${model.name}`;
  const fetchBytes = async (path: string, offset: number, length: number) => {
    const { begins, bytes } = await registry.open(model, files.get(path)!, offset, signal);
    const pieces: Uint8Array[] = [];
    let enough = offset - begins + length;
    for await (const piece of bytes) {
      pieces.push(piece);
      enough -= piece.length;
      if (enough <= 0) break;
    }
    if (enough > 0) throw badWeights(`${place}/${path}`, 'is truncated');
    return Buffer.concat(pieces).subarray(offset - begins, offset - begins + length);
  };
  return {
    place,
    sizes: new Map(model.files.map(({ path, size }) => [path, size])),
    read: (path, offset, length) => retrying(() => fetchBytes(path, offset, length), clock, signal),
  };
}

async function readFile(path: string, offset: number, length: number): Promise<Buffer> {
  const handle = await open(path, 'r').catch((error) => {
    throw unusableFolder(path, `cannot be read (${readProblem(error)})`);
  });
  try {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await handle.read(buffer, 0, length, offset);
    if (bytesRead < length) throw badWeights(path, 'is truncated');
    return buffer;
  } finally {
    await handle.close();
  }
}
