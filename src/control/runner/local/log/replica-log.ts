import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LF } from '../../../../kernel/text/ascii.js';
import type { LogOptions } from '../../contract.js';
import { LogFiles } from './log-files.js';
import { type Scrub, shownLine } from './shown-line.js';

/** The name of the log in a replica's folder. */
export const LOG = 'log';

const FOLLOW_MS = 100;
const DEFAULT_LINES = 100;
const POSITION = /^\d{1,15}$/;

/**
 * What a replica writes to stdout and stderr, line by line. The engine writes it by itself, so it keeps writing when the control
 * plane is gone.
 */
export class ReplicaLog {
  /** Set when nothing more will be written: followers then end after the last line. */
  isOver = false;
  /** Set when it is not read any more: followers end at once, without a line that may become longer. */
  isReleased = false;
  readonly #files: LogFiles;
  readonly #scrub: Scrub;

  constructor(folder: string, mostBytes: number, scrub: Scrub, now: () => number = Date.now) {
    this.#scrub = scrub;
    this.#files = new LogFiles(join(folder, LOG), mostBytes, now);
  }

  get path(): string {
    return this.#files.path;
  }

  /** Records how long it is, and rotates it when it is too long: called about once a second. */
  tend(): void {
    this.#files.tend();
  }

  /** The last lines, including an incomplete one. */
  async last(count: number): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of this.read({ tail: count })) lines.push(line);
    return lines;
  }

  async *read(options: LogOptions): AsyncGenerator<string> {
    const file = await this.#files.open();
    try {
      yield* this.#lines(file, await this.#startOf(file, options), options);
    } finally {
      await file.close();
    }
  }

  async #startOf(file: FileHandle, { cursor, follow, since, tail }: LogOptions): Promise<number> {
    const files = this.#files;
    const end = await files.end(file);
    const position = cursor?.position ?? null;
    if (position !== null && POSITION.test(position)) return Math.min(Number(position), end);
    const sinceStart = since === undefined ? 0 : await files.behindNewline(file, files.times.since(since), 1);
    const count = tail ?? (since === undefined ? DEFAULT_LINES : Number.POSITIVE_INFINITY);
    if (count === Number.POSITIVE_INFINITY) return sinceStart;
    // An incomplete line counts as one, unless it may still be completed.
    const { bytes } = await files.read(file, Math.max(0, end - 1), end);
    const hasRest = bytes.length > 0 && bytes[0] !== LF;
    const newlines = count + (hasRest && !follow ? 0 : 1);
    return Math.max(sinceStart, await files.behindNewline(file, end, newlines));
  }

  async *#lines(file: FileHandle, from: number, options: LogOptions): AsyncGenerator<string> {
    const { cursor = { position: null }, follow = false, signal } = options;
    let next = from;
    let rest: Buffer = Buffer.alloc(0);
    while (!signal?.aborted) {
      const isLast = !follow || this.isOver;
      const read = await this.#files.read(file, next);
      // Of a log that was rotated twice meanwhile, what is left starts within a line.
      const isTorn = read.start > next;
      let bytes = isTorn ? read.bytes.subarray(read.bytes.indexOf(LF) + 1) : Buffer.concat([rest, read.bytes]);
      next = read.start + read.bytes.length;
      for (let to = bytes.indexOf(LF); to !== -1; to = bytes.indexOf(LF)) {
        cursor.position = String(next - bytes.length + to + 1);
        const line = shownLine(bytes.subarray(0, to), this.#scrub);
        bytes = bytes.subarray(to + 1);
        yield line;
        if (signal?.aborted) return;
      }
      rest = bytes;
      if (this.isReleased && follow) return;
      if (isLast) break;
      await delay(FOLLOW_MS, undefined, { signal }).catch(() => {});
    }
    if (rest.length === 0 || signal?.aborted) return;
    cursor.position = String(next);
    yield shownLine(rest, this.#scrub);
  }
}
