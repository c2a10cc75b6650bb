import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readProblem } from '../../files/file-problem.js';
import { fileUnreadable } from '../../workload/errors.js';
import { headerBeside } from '../../workload/formats/trace-v2.js';
import { trafficFiles } from '../../workload/formats/traffic/traffic-files.js';
import type { TraceRecipe } from './workload-recipe.js';

/** The recipe of a recorded workload, with the hash of the present content of its files. */
export async function traceRecipe(trace: Omit<TraceRecipe, 'kind' | 'sha256'>): Promise<TraceRecipe> {
  const header = trace.header ?? headerBeside(trace.data);
  const data = trafficFiles(trace.data);
  return { kind: 'trace', ...trace, sha256: await filesSha256(header === null ? data : [header, ...data]) };
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
