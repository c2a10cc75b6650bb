import { CR, LF } from '../../kernel/text/ascii.js';
import { isLegalHead, putHead, ROOM } from '../wire/head-syntax.js';

/** The most that frames a chunk: its size, two line ends, and the end of the body. */
const MOST_FRAME = 24;
const LAST_CHUNK = '0\r\n\r\n';
const DIGITS = Buffer.from('0123456789abcdef');

/** What `put` returns when head and piece do not fit. */
export const NO_ROOM = -1;
/** What `put` returns when the head has an illegal field. */
export const ILLEGAL = -2;

/** Writes responses, head and body in one, into a buffer that all connections of a port share. */
export class ResponseWriter {
  /** Messages are written into it again and again, so that a head and its body go out in one write. */
  bytes = Buffer.allocUnsafeSlow(ROOM);

  /**
   * The length of head and piece, which are in `bytes` then; `NO_ROOM` or `ILLEGAL`.
   * @param head empty when it is already sent
   * @param lines of the head, the empty one included
   */
  put(head: string, lines: number, piece: Buffer | null, isChunked: boolean, isLast: boolean): number {
    const size = piece === null ? 0 : piece.length;
    if (head.length + size + MOST_FRAME > ROOM) return NO_ROOM;
    let at = 0;
    if (head !== '') {
      at = putHead(this.bytes, head, lines);
      if (at < 0) return ILLEGAL;
    }
    const { bytes } = this;
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

  /** What was written last is not sent yet: the next message goes elsewhere. */
  renew(): void {
    this.bytes = Buffer.allocUnsafeSlow(ROOM);
  }
}

/** The same as separate buffers, for what does not fit; null when the head has an illegal field. */
export function asBuffers(
  head: string,
  lines: number,
  piece: Buffer,
  isChunked: boolean,
  isLast: boolean,
): Buffer[] | null {
  const start = Buffer.from(head, 'latin1');
  if (head !== '' && !isLegalHead(start, start.length, lines)) return null;
  if (!isChunked) return [start, piece];
  const end = Buffer.from(isLast ? LAST_CHUNK : '');
  // An empty chunk would end the body.
  if (piece.length === 0) return [start, end];
  return [start, Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'), end];
}

/** The size of a chunk in hexadecimal, and its line end. */
function putSize(bytes: Buffer, from: number, size: number): number {
  let at = from;
  let shift = 28;
  while (size >>> shift === 0) shift -= 4;
  for (; shift >= 0; shift -= 4) bytes[at++] = DIGITS[(size >>> shift) & 15]!;
  bytes[at++] = CR;
  bytes[at++] = LF;
  return at;
}
