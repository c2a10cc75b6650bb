import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LF } from '../../../../kernel/text/ascii.js';
import { LogTimes } from './log-times.js';

const CHUNK = 64 * 1024;

/**
 * The bytes of a log, counted from the first that was ever written. The engine itself holds the current file open and appends to
 * it. A file that has become too long is copied to a second one and truncated; what the engine writes in the microseconds between
 * the two is lost.
 */
export class LogFiles {
  readonly path: string;
  readonly times: LogTimes;
  readonly #older: string;
  readonly #mostBytes: number;
  /** Where the current file begins, and where the older one does. */
  #start: number;
  #oldest: number;
  #rotations = 0;

  constructor(path: string, mostBytes: number, now: () => number) {
    this.path = path;
    this.#older = `${path}.1`;
    this.#mostBytes = mostBytes;
    this.times = new LogTimes(`${path}.times`, now);
    const older = sizeOf(this.#older);
    const recorded = this.times.start ?? older;
    // A control plane that was killed during a rotation has not recorded it.
    this.#start = recorded + sizeOf(path) < this.times.end ? this.times.end : recorded;
    this.#oldest = Math.max(0, this.#start - older);
  }

  /** Held open, the current file can be read to its end even after its folder has been removed. */
  open(): Promise<FileHandle> {
    return open(this.path, 'r');
  }

  async end(file: FileHandle): Promise<number> {
    for (;;) {
      const before = this.#rotations;
      const { size } = await file.stat();
      if (before === this.#rotations) return this.#start + size;
    }
  }

  /** What is left of the log between two places; it may begin later than requested. */
  async read(file: FileHandle, from: number, to = Number.POSITIVE_INFINITY): Promise<{ start: number; bytes: Buffer }> {
    for (;;) {
      const before = this.#rotations;
      const pieces: Buffer[] = [];
      let start = Math.max(from, this.#oldest);
      if (start >= to) return { start, bytes: Buffer.alloc(0) };
      if (start < this.#start) {
        const piece = await readFrom(this.#older, start - this.#oldest, Math.min(to, this.#start) - this.#oldest);
        if (piece === null) start = this.#start;
        else pieces.push(piece);
      }
      const { size } = await file.stat();
      const [first, last] = [Math.max(0, start - this.#start), Math.min(size, to - this.#start)];
      if (first < last) pieces.push(await readPart(file, first, last));
      // Bytes read during a rotation may be of the old text or of the new.
      if (before === this.#rotations) return { start, bytes: Buffer.concat(pieces) };
    }
  }

  /** The place behind the nth newline before a place, counted backwards from 1; the beginning of the log when there are fewer. */
  async behindNewline(file: FileHandle, before: number, nth: number): Promise<number> {
    let left = nth;
    for (let to = before; left > 0; ) {
      const { bytes, start } = await this.read(file, Math.max(0, to - CHUNK), to);
      for (let i = bytes.length - 1; i >= 0; i--) if (bytes[i] === LF && --left === 0) return start + i + 1;
      if (bytes.length === 0 || start === 0) return 0;
      to = start;
    }
    return before;
  }

  /** Records the length; moves a file that is too long out of the way, of one that is far too long only the end. */
  tend(): void {
    const fd = openSync(this.path, 'r+');
    try {
      const { size } = fstatSync(fd);
      this.times.sample(this.#start + size);
      if (size > this.#mostBytes) this.#rotate(fd, size);
    } finally {
      closeSync(fd);
    }
  }

  #rotate(fd: number, size: number): void {
    const cut = Math.max(0, size - 2 * this.#mostBytes);
    const temporary = `${this.#older}.new`;
    const copy = openSync(temporary, 'w', 0o600);
    let end: number;
    try {
      const copied = copyFrom(fd, cut, copy);
      renameSync(temporary, this.#older);
      end = copyFrom(fd, copied, copy);
      ftruncateSync(fd, 0);
    } catch (error) {
      // On a full disk it takes the space that others need.
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(copy);
    }
    this.#oldest = this.#start + cut;
    this.#start += end;
    this.#rotations++;
    this.times.rotated(this.#start, this.#oldest);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A part of a file; null when there is no such file any more. */
async function readFrom(path: string, start: number, end: number): Promise<Buffer | null> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  try {
    return await readPart(file, start, end);
  } finally {
    await file.close();
  }
}

/** The bytes of a file between two offsets, or fewer if it has become shorter. */
async function readPart(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}

/** Copies a file from an offset to its end; returns the end. */
function copyFrom(from: number, at: number, to: number): number {
  const chunk = Buffer.alloc(CHUNK);
  for (let place = at; ; ) {
    const length = readSync(from, chunk, 0, CHUNK, place);
    if (length === 0) return place;
    writeSync(to, chunk, 0, length);
    place += length;
  }
}
