import { chmodSync, closeSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

let filesMade = 0;

/**
 * A file that appears completely or not at all: written beside its place under another name, then moved there. Devices and
 * pipes cannot be replaced and are written directly.
 */
export class AtomicFile {
  readonly #target: string;
  readonly #temporary: string;
  readonly #fd: number;
  #open = true;
  #settled = false;

  constructor(path: string) {
    const existing = statSync(path, { throwIfNoEntry: false });
    const direct = existing !== undefined && !existing.isFile();
    // A link stays a link: the file it points to is replaced.
    this.#target = existing?.isFile() ? realpathSync(path) : path;
    this.#temporary = direct ? this.#target : temporaryName(this.#target);
    this.#fd = openSync(this.#temporary, direct ? 'w' : 'wx');
    if (existing?.isFile()) chmodSync(this.#temporary, existing.mode);
  }

  write(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
  }

  /** Ends writing: after this only `publish` and `discard` are left. */
  close(): void {
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
  }

  /** Puts the file in its place. */
  publish(): void {
    this.close();
    if (this.#temporary !== this.#target) renameSync(this.#temporary, this.#target);
    this.#settled = true;
  }

  /** Removes what was written; nothing to do after `publish`. */
  discard(): void {
    this.close();
    if (!this.#settled && this.#temporary !== this.#target) rmSync(this.#temporary, { force: true });
    this.#settled = true;
  }
}

/** A name beside the target that no other file of this or another running process has. */
export function temporaryName(target: string): string {
  return join(dirname(target), `.${basename(target)}.${process.pid}-${filesMade++}.tmp`);
}
