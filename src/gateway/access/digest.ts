import { hash } from 'node:crypto';

/** The SHA-256 of a text, as bytes and as words of the same memory. One object for all texts: it holds the last one's. */
export class Digest {
  readonly bytes = Buffer.alloc(32);
  readonly words = new Int32Array(this.bytes.buffer, this.bytes.byteOffset, 8);

  set(text: string): void {
    // As hexadecimal text is the fastest way to get it out of the platform.
    this.bytes.write(hash('sha256', text), 'hex');
  }
}
