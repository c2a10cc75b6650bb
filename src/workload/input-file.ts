import { readFileSync } from 'node:fs';
import { readProblem } from '../files/file-problem.js';
import { refuseUtf16 } from '../files/text-encoding.js';
import { fileDamaged, fileUnreadable } from './errors.js';

/** A whole file as bytes; gzip is recognised by its first two bytes, under any name. */
export async function readInputFile(path: string): Promise<Buffer> {
  let bytes = readBytes(path);
  if (isGzip(bytes)) {
    try {
      bytes = unpack(bytes);
    } catch (error) {
      throw fileDamaged(path, gzipProblem(error));
    }
  }
  refuseUtf16(bytes, path);
  return bytes;
}

/** The same at once, for naming the place of an error in a file that has been read before. */
export function readWholeFile(path: string): Buffer {
  const bytes = readBytes(path);
  const plain = isGzip(bytes) ? unpack(bytes) : bytes;
  refuseUtf16(plain, path);
  return plain;
}

/** Loads the library when it is needed: most files are plain. */
function unpack(bytes: Buffer): Buffer {
  return process.getBuiltinModule('node:zlib').gunzipSync(bytes);
}

export function isGzip(bytes: Buffer): boolean {
  return bytes.length >= 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fileUnreadable(path, readProblem(error));
  }
}

/** Why a file could not be unpacked. */
export function gzipProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return 'the gzip file is cut off before its end';
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'the gzip file is too large when unpacked';
  return `the gzip file is damaged (${message})`;
}
