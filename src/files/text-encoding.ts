import { InputError } from '../kernel/errors.js';

/** Bytes at the start of a file that show its encoding. */
const START = 64;

/** Refuses UTF-16: read as UTF-8 it would fail at some character further on, and the message would not name the cause. */
export function refuseUtf16(bytes: Buffer, file: string): void {
  if (isUtf16(bytes)) throw new InputError('FILE_UTF16', file, 'UTF-16 text', 'save it as UTF-8');
}

/** The text of a file. */
export function decodeText(bytes: Buffer, file: string): string {
  refuseUtf16(bytes, file);
  return bytes.toString('utf8');
}

/** A byte order mark, or a NUL in every other byte: Latin letters and digits in UTF-16. */
function isUtf16(bytes: Buffer): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const start = bytes.subarray(0, Math.min(START, bytes.length & ~1));
  if (start.length < 4) return false;
  const nul = start[0] === 0 ? 0 : 1;
  return start.every((byte, i) => (i % 2 === nul) === (byte === 0));
}
