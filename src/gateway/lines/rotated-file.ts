import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { writeProblem } from '../../files/file-problem.js';
import { LF } from '../../kernel/text/ascii.js';
import { unwritableLog } from '../errors.js';

/**
 * A file of whole lines that never exceeds its limit, unless a single line does. When it is full it becomes `path.1`,
 * `path.1` becomes `path.2` and so on; the last one is deleted. An existing file is continued. A device or a pipe is
 * written without rotation.
 */
export class RotatedFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #older: number;
  /** -1 after an error: opened again at the next attempt. */
  #file = -1;
  #isPlain = true;
  #size = 0;

  /** @param older how many full files are kept besides the one that is written */
  constructor(path: string, maxBytes: number, older: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#older = older;
    try {
      this.#open();
    } catch (error) {
      throw unwritableLog(path, writeProblem(error));
    }
  }

  /**
   * Writes as many of the lines in `bytes` from `from` on as fit into one file, and returns where the rest begins.
   * Throws the system's error; then none of these lines is in the file.
   */
  write(bytes: Buffer, from: number): number {
    if (this.#file < 0) this.#open();
    let end = this.#linesThatFit(bytes, from);
    if (end === from && this.#size > 0) {
      this.#rotate();
      end = this.#linesThatFit(bytes, from);
    }
    // A line that is longer than the limit has its own file.
    if (end === from) end = bytes.indexOf(LF, from) + 1;
    this.#append(bytes, from, end);
    return end;
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
  }

  #linesThatFit(bytes: Buffer, from: number): number {
    const room = this.#maxBytes - this.#size;
    if (!this.#isPlain || bytes.length - from <= room) return bytes.length;
    return room < 1 ? from : Math.max(from, bytes.lastIndexOf(LF, from + room - 1) + 1);
  }

  #append(bytes: Buffer, from: number, end: number): void {
    try {
      for (let at = from; at < end; ) at += writeSync(this.#file, bytes, at, end - at);
    } catch (error) {
      this.#forgetHalf();
      throw error;
    }
    this.#size += end - from;
  }

  /** Part of the lines may have been written before the disk was full: they could not be read. */
  #forgetHalf(): void {
    try {
      if (this.#isPlain) ftruncateSync(this.#file, this.#size);
    } catch {
      // The partial line stays; the next one starts on a new line.
      this.close();
    }
  }

  #rotate(): void {
    this.close();
    const name = (n: number) => (n === 0 ? this.#path : `${this.#path}.${n}`);
    if (this.#older === 0) rmSync(this.#path, { force: true });
    // Only up to the first gap: a retry after a failure must not delete files that are to be kept.
    let last = 1;
    while (last < this.#older && existsSync(name(last))) last++;
    // Oldest first, each over the one before, so that no file to be kept is missing at any time.
    for (let n = Math.min(last, this.#older); n > 0; n--) move(name(n - 1), name(n));
    this.#open();
  }

  #open(): void {
    const file = openSync(this.#path, 'a+', 0o600);
    this.#file = file;
    try {
      const stat = fstatSync(file);
      this.#isPlain = stat.isFile();
      this.#size = this.#isPlain ? stat.size : 0;
      if (this.#size > 0 && !this.#endsWithLine()) this.#append(Buffer.from('\n'), 0, 1);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** An earlier writer may have crashed in the middle of a line. */
  #endsWithLine(): boolean {
    const last = Buffer.alloc(1);
    readSync(this.#file, last, 0, 1, this.#size - 1);
    return last[0] === LF;
  }
}

/** The file may have been moved or deleted. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
