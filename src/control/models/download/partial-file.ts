import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ModelFile } from '../contract.js';
import { ByteHash } from './byte-hash.js';

const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
/** Small enough to keep nobody else in the process waiting while it is hashed. */
const PIECE_BYTES = 2 ** 18;

/** A file on its way: what came before is continued, with its checksum counted along. */
export class PartialFile {
  readonly #file: ModelFile;
  readonly #handle: FileHandle;
  #hash: ByteHash;
  #bytes = 0;
  #continued = false;

  private constructor(file: ModelFile, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
    this.#hash = new ByteHash(file);
  }

  /**
   * Throws what the system says; a link in its place is refused.
   * @param count is told of what is there already as it is read, which takes a while for much
   */
  static async open(
    path: string,
    file: ModelFile,
    signal: AbortSignal,
    count: (bytes: number) => void,
  ): Promise<PartialFile> {
    const partial = new PartialFile(file, await open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o644));
    try {
      await partial.#readBack(signal, count);
      return partial;
    } catch (error) {
      await partial.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether part of it is from an earlier time, of which nobody knows how it ended. */
  get continued(): boolean {
    return this.#continued;
  }

  async append(piece: Uint8Array): Promise<void> {
    for (let done = 0; done < piece.length; ) {
      const { bytesWritten } = await this.#handle.write(piece, done, piece.length - done, this.#bytes + done);
      done += bytesWritten;
    }
    this.#hash.update(piece);
    this.#bytes += piece.length;
  }

  /** From the beginning again. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0);
    this.#hash = new ByteHash(this.#file);
    this.#bytes = 0;
    this.#continued = false;
  }

  /** Whether all its bytes are there and right; asked once, when they are there. They are on the disk then. */
  async isRight(): Promise<boolean> {
    if (!this.#hash.matches()) return false;
    await this.#handle.sync();
    return true;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #readBack(signal: AbortSignal, count: (bytes: number) => void): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size > this.#file.size) return this.restart();
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(1, size)));
    while (this.#bytes < size) {
      signal.throwIfAborted();
      const { bytesRead } = await this.#handle.read(piece, 0, piece.length, this.#bytes);
      this.#hash.update(piece.subarray(0, bytesRead));
      this.#bytes += bytesRead;
      count(bytesRead);
    }
    this.#continued = size > 0;
  }
}
