import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** Recorded lines begin with the time of arrival; the names that an operator chose come after the request id. */
const ARRIVAL = /^\{"t_us":(\d+),/;

/**
 * The recorded requests of an endpoint that arrived at `sinceUs` or later and before `untilUs`, line by line in the order of the file:
 * nothing is held in memory. Files that are rotated meanwhile are read on.
 */
export async function* recordedLines(
  path: string,
  endpoint: string,
  sinceUs: number,
  untilUs = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const named = `"endpoint":${JSON.stringify(endpoint)},`;
  const files = await openedFiles(path);
  try {
    for (const file of files) {
      // Only what was there when the file was opened: a gateway under load would never end it.
      const { size } = await file.stat();
      if (size === 0) continue;
      const input = createReadStream('', { fd: file, autoClose: false, start: 0, end: size - 1, encoding: 'utf8' });
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        const arrivedUs = recordedArrivalUs(line);
        if (Number.isNaN(arrivedUs) || !line.endsWith('}')) continue;
        if (arrivedUs < sinceUs || arrivedUs >= untilUs) continue;
        // Before the blocks, of which there may be many.
        if (line.slice(0, 1024).includes(named)) yield line;
      }
    }
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

/** When the request of a recorded line arrived; NaN for another line. */
export function recordedArrivalUs(line: string): number {
  return Number(ARRIVAL.exec(line)?.[1]);
}

/** Oldest first. Opened at once: rotation only renames them. */
async function openedFiles(path: string): Promise<FileHandle[]> {
  const paths = [path];
  for (let n = 1; existsSync(`${path}.${n}`); n++) paths.unshift(`${path}.${n}`);
  const files: FileHandle[] = [];
  for (const one of paths) {
    const file = await open(one).catch(() => null);
    if (file !== null) files.push(file);
  }
  return files;
}
