import { closeSync, openSync, readSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryName } from './atomic-file.js';

const CHUNK = 1 << 20;

/**
 * Collects text while a simulation runs. What exceeds a small buffer goes to a file that is already unlinked,
 * so that nothing is left when the process ends in any way.
 */
export class TextSpool {
  readonly #beside: string;
  readonly #memory: number;
  #text = '';
  #fd = -1;
  #spilled = 0;

  /** `beside`: the spool is kept in the folder of this path. */
  constructor(beside: string, memory = 8 * CHUNK) {
    this.#beside = beside;
    this.#memory = memory;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= this.#memory) this.#spill();
  }

  /** Everything added so far, piece by piece. */
  *pieces(): Generator<string | Uint8Array> {
    const buffer = Buffer.alloc(this.#spilled === 0 ? 0 : CHUNK);
    for (let at = 0; at < this.#spilled; ) {
      const read = readSync(this.#fd, buffer, 0, Math.min(CHUNK, this.#spilled - at), at);
      at += read;
      yield buffer.subarray(0, read);
    }
    if (this.#text !== '') yield this.#text;
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
    this.#spilled = 0;
    this.#text = '';
  }

  #spill(): void {
    if (this.#fd < 0) {
      const path = temporaryName(this.#beside);
      this.#fd = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
    }
    const bytes = Buffer.from(this.#text);
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#spilled + done);
    }
    this.#spilled += bytes.length;
    this.#text = '';
  }
}

/** Where to spool for a path: beside it, where room is needed anyway, unless its folder cannot hold files. */
export function spoolBeside(path: string): string {
  const isDevice = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  return isDevice ? join(tmpdir(), 'twinyard') : path;
}
