import { VALUE_BYTES } from './field-bytes.js';

/** The most that is written at once. */
export const ROOM = 65_536;

/**
 * A buffer that messages are written into again and again, so that a head and its body go out in one write. No field breaks out
 * of its line: the bytes of a head are counted as they go out, and the only control characters among them are its line ends.
 */
export class MessageBuffer {
  bytes = Buffer.allocUnsafeSlow(ROOM);

  /**
   * Writes a head of at most `ROOM` characters. Returns its length, or -1 when it is not legal.
   * @param lines of the head, the empty one included
   */
  putHead(head: string, lines: number): number {
    const length = this.bytes.write(head, 0, 'latin1');
    return isLegalHead(this.bytes, length, lines) ? length : -1;
  }

  /** What was written last is not sent yet: the next message goes elsewhere. */
  renew(): void {
    this.bytes = Buffer.allocUnsafeSlow(ROOM);
  }
}

/** Characters wider than a byte are caught as well, because only their lower bytes are sent. */
export function isLegalHead(bytes: Buffer, length: number, lines: number): boolean {
  let values = 0;
  for (let i = 0; i < length; i++) values += VALUE_BYTES[bytes[i]!]!;
  return length - values === 2 * lines;
}
