import { CR, LF, VALUE_BYTES } from './field-bytes.js';

const ROOM = 65_536;
/** The most that frames a chunk: its size, two line ends, and the end of the body. */
const MOST_FRAME = 24;
const LAST_CHUNK = '0\r\n\r\n';
const DIGITS = Buffer.from('0123456789abcdef');

/** There is no room for so much at once. */
export const NO_ROOM = -1;
/** The head has a header that is none. */
export const ILLEGAL = -2;

/**
 * Writes answers into one buffer that is used again and again, so that head and body go out in one write. Nobody breaks out of a
 * header: the bytes are counted as they go out, and there is no control character among them but the line ends put there.
 */
export class ResponseWriter {
  bytes = Buffer.allocUnsafeSlow(ROOM);

  /**
   * The length of head and piece, which are in `bytes` now; `NO_ROOM` or `ILLEGAL`.
   * @param head '' when it is out
   * @param lines of the head, the empty one included
   */
  put(head: string, lines: number, piece: Buffer | null, isChunked: boolean, isLast: boolean): number {
    const size = piece === null ? 0 : piece.length;
    if (head.length + size + MOST_FRAME > ROOM) return NO_ROOM;
    const { bytes } = this;
    let at = 0;
    if (head !== '') {
      at = bytes.write(head, 0, 'latin1');
      if (!isLegal(bytes, at, lines)) return ILLEGAL;
    }
    if (size > 0) {
      if (isChunked) at = putSize(bytes, at, size);
      piece!.copy(bytes, at);
      at += size;
      if (isChunked) {
        bytes[at++] = CR;
        bytes[at++] = LF;
      }
    }
    return isChunked && isLast ? at + bytes.write(LAST_CHUNK, at, 'latin1') : at;
  }

  /** What was written last is not out yet: the next answer is written elsewhere. */
  renew(): void {
    this.bytes = Buffer.allocUnsafeSlow(ROOM);
  }
}

/** The same as buffers of their own, for what has no room; null when the head has a header that is none. */
export function asBuffers(
  head: string,
  lines: number,
  piece: Buffer,
  isChunked: boolean,
  isLast: boolean,
): Buffer[] | null {
  const start = Buffer.from(head, 'latin1');
  if (head !== '' && !isLegal(start, start.length, lines)) return null;
  if (!isChunked) return [start, piece];
  const end = Buffer.from(isLast ? LAST_CHUNK : '');
  // A chunk of no size would be the last.
  if (piece.length === 0) return [start, end];
  return [start, Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'), end];
}

/** Text that is wider than a byte is caught as well: its lower bytes are what goes out. */
function isLegal(bytes: Buffer, length: number, lines: number): boolean {
  let values = 0;
  for (let i = 0; i < length; i++) values += VALUE_BYTES[bytes[i]!]!;
  return length - values === 2 * lines;
}

/** The size of a chunk and its line end, in hexadecimal. */
function putSize(bytes: Buffer, from: number, size: number): number {
  let at = from;
  let shift = 28;
  while (size >>> shift === 0) shift -= 4;
  for (; shift >= 0; shift -= 4) bytes[at++] = DIGITS[(size >>> shift) & 15]!;
  bytes[at++] = CR;
  bytes[at++] = LF;
  return at;
}
