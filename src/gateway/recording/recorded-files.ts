import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** Recorded lines begin with the time of arrival; the names that an operator chose come after the request id. */
const ARRIVAL = /^\{"t_us":(\d+),/;

interface OpenFile {
  readonly handle: FileHandle;
  /** When it was opened: a gateway under load would never end it. */
  readonly size: number;
  /** Its number when it was last found; greater ones are older. */
  number: number;
}

/** The files of a recording as they are now, held open: rotation only renames them, and what it deletes is read on. */
export class RecordedFiles {
  /** Oldest first. */
  readonly #files: readonly OpenFile[];

  private constructor(files: readonly OpenFile[]) {
    this.#files = files;
  }

  static async open(path: string): Promise<RecordedFiles> {
    const files = new Map<string, OpenFile>();
    // Again after a rotation that may have come in between.
    while (await findFiles(path, files));
    return new RecordedFiles([...files.values()].sort((a, b) => b.number - a.number));
  }

  /**
   * The requests of an endpoint that arrived at `sinceUs` or later and before `untilUs`, line by line in the order of the files:
   * nothing is held in memory. The same lines each time.
   */
  async *lines(endpoint: string, sinceUs: number, untilUs = Number.POSITIVE_INFINITY): AsyncGenerator<string> {
    const named = `"endpoint":${JSON.stringify(endpoint)},`;
    for (const { handle, size } of this.#files) {
      if (size === 0) continue;
      const input = createReadStream('', { fd: handle, autoClose: false, start: 0, end: size - 1, encoding: 'utf8' });
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        const arrivedUs = recordedArrivalUs(line);
        if (Number.isNaN(arrivedUs) || !line.endsWith('}')) continue;
        if (arrivedUs < sinceUs || arrivedUs >= untilUs) continue;
        // Before the blocks, of which there may be many.
        if (line.slice(0, 1024).includes(named)) yield line;
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#files.map(({ handle }) => handle.close()));
  }
}

/** When the request of a recorded line arrived; NaN for another line. */
export function recordedArrivalUs(line: string): number {
  return Number(ARRIVAL.exec(line)?.[1]);
}

/**
 * Opens the files that are not open yet, the newest first: one that is renamed meanwhile is found again under its next name. Returns
 * whether there were any.
 */
async function findFiles(path: string, files: Map<string, OpenFile>): Promise<boolean> {
  let isNew = false;
  // While files are renamed, one number is missing.
  for (let number = 0, missing = 0; missing < 2; number++) {
    const handle = await open(number === 0 ? path : `${path}.${number}`).catch(() => null);
    if (handle === null) {
      missing++;
      continue;
    }
    missing = 0;
    const { dev, ino, size } = await handle.stat();
    const known = files.get(`${dev}/${ino}`);
    if (known === undefined) {
      isNew = true;
      files.set(`${dev}/${ino}`, { handle, size, number });
    } else {
      known.number = number;
      await handle.close();
    }
  }
  return isNew;
}
