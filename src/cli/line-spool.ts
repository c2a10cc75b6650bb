import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { temporaryName } from './atomic-file.js';

const CHUNK = 1 << 20;

/**
 * Collects many lines while a simulation runs. What does not fit into a little memory goes to a file that has no name any
 * more: however the process ends, nothing stays behind.
 */
export class LineSpool {
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

  add(line: string): void {
    this.#text += line;
    this.#text += '\n';
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
