import { randomFillSync } from 'node:crypto';

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const POOL_BYTES = 4096;

/** Ids of traces and spans that cannot be guessed. Random bytes are fetched many at a time. */
export class RandomIds {
  readonly #pool = Buffer.alloc(POOL_BYTES);
  #at = POOL_BYTES;

  traceId(): string {
    return this.#hex(TRACE_BYTES);
  }

  spanId(): string {
    return this.#hex(SPAN_BYTES);
  }

  /** In [0, 1). */
  fraction(): number {
    return this.#pool.readUInt32LE(this.#take(4)) / 2 ** 32;
  }

  #hex(bytes: number): string {
    const at = this.#take(bytes);
    return this.#pool.toString('hex', at, at + bytes);
  }

  #take(bytes: number): number {
    if (this.#at + bytes > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    const at = this.#at;
    this.#at += bytes;
    return at;
  }
}
