import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readProblem } from '../../files/file-problem.js';
import { fileUnreadable } from '../../workload/errors.js';
import { headerBeside } from '../../workload/formats/trace-v2.js';
import { trafficFiles } from '../../workload/formats/traffic/traffic-files.js';
import { traceChanged } from '../errors.js';
import type { TraceRecipe } from './workload-recipe.js';

/** The recipe of a recorded workload, with the hash of the present content of its files. */
export async function traceRecipe(
  trace: Omit<TraceRecipe, 'kind' | 'sha256'>,
  hashes: TraceHashes = new Map(),
): Promise<TraceRecipe> {
  const files = recordedFiles(trace);
  const key = files.join('\0');
  const hash = hashes.get(key) ?? filesSha256(files);
  hashes.set(key, hash);
  return { kind: 'trace', ...trace, sha256: await hash };
}

/** Hashes of files that an experiment has read: a trace that many points replay is hashed once. */
export type TraceHashes = Map<string, Promise<string>>;

/** The files and folders of a trace, in the order in which its hash takes them. */
export function recordedFiles({ header, data }: Pick<TraceRecipe, 'header' | 'data'>): string[] {
  const beside = header ?? headerBeside(data);
  return beside === null ? trafficFiles(data) : [beside, ...trafficFiles(data)];
}

/** Fails where the files are not those of the recipe any more: a result would be kept under a hash that is not its own. */
export async function checkUnchanged(recipe: TraceRecipe): Promise<void> {
  if ((await filesSha256(recordedFiles(recipe))) !== recipe.sha256) throw traceChanged(recipe.data);
}

/** The hash of files and folders of files, one after the other. Read in chunks: a trace may be large. */
export async function filesSha256(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) {
    try {
      for (const file of await filesOf(path)) {
        for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
        hash.update('\0');
      }
    } catch (error) {
      throw fileUnreadable(path, readProblem(error));
    }
  }
  return hash.digest('hex');
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(path, name))
    .sort();
}
