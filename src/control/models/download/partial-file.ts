import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ModelFile } from '../contract.js';

const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
/** Small enough not to block the event loop while it is hashed. */
const PIECE_BYTES = 2 ** 18;

/** An incomplete file: an earlier download is continued, with its checksum computed along the way. */
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
   * Throws errors of the file system; a symbolic link is refused.
   * @param count called with the bytes of an earlier download as they are read
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

  /** Whether part of it is from an earlier download, which may have ended badly. */
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

  /** Starts again from the beginning. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0);
    this.#hash = new ByteHash(this.#file);
    this.#bytes = 0;
    this.#continued = false;
  }

  /** Whether the checksum of the complete file matches; if so, it is on the disk. To be called once. */
  async isVerified(): Promise<boolean> {
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

/** The checksum of a file whose bytes come one after the other; does nothing for a file without one. */
class ByteHash {
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
