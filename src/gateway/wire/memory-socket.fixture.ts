import { Duplex } from 'node:stream';

/** A connection without a network: what is fed to it is read from it, and what is written to it is kept. */
export class MemorySocket extends Duplex {
  /** Resolves when nothing more is read or written. */
  readonly done: Promise<void>;
  readonly #written: Buffer[] = [];

  constructor() {
    super({ allowHalfOpen: true });
    this.done = new Promise((resolve) => {
      this.on('finish', resolve).on('close', resolve).on('error', resolve);
    });
  }

  /** Everything that was written. */
  get text(): string {
    return Buffer.concat(this.#written).toString('latin1');
  }

  /** Feeds pieces one by one, each in a turn of its own, and then the end. */
  async feed(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      if (this.destroyed) return;
      this.push(piece);
      await new Promise(setImmediate);
    }
    if (!this.destroyed) this.push(null);
  }

  // A TCP socket has these as well.

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: () => void): void {
    // A writer may use its buffer again as soon as this returns.
    this.#written.push(Buffer.from(chunk));
    written();
  }
}
