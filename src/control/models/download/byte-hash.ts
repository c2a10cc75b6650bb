import { createHash, type Hash } from 'node:crypto';
import type { ModelFile } from '../contract.js';

/** The checksum of a file whose bytes come one after the other; of one that has none, nothing is counted. */
export class ByteHash {
  readonly #hash: Hash | null;
  readonly #wanted: string | undefined;

  constructor({ checksum, size }: ModelFile) {
    this.#wanted = checksum?.hex;
    if (checksum?.algorithm === 'git-sha1') this.#hash = createHash('sha1').update(`blob ${size}\0`);
    else this.#hash = checksum === null ? null : createHash('sha256');
  }

  update(bytes: Uint8Array): void {
    this.#hash?.update(bytes);
  }

  /** Ends it: whether these were the right bytes. */
  matches(): boolean {
    return this.#hash === null || this.#hash.digest('hex') === this.#wanted;
  }
}
