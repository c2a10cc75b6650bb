import { closeSync, openSync, readSync } from 'node:fs';
import { readProblem } from '../files/file-problem.js';
import { refuseUtf16 } from '../files/text-encoding.js';
import { InputError } from '../kernel/errors.js';
import { fileDamaged, fileUnreadable } from './errors.js';
import { gzipProblem, isGzip } from './input-file.js';

const CHUNK_BYTES = 1 << 20;

/** The bytes of a file in chunks, unpacked if it is gzipped. A chunk is valid until the next one is requested. */
export async function* inputChunks(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = open(path);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let read = fill(file, buffer, path);
    if (isGzip(buffer.subarray(0, read))) {
      yield* unpacked(path);
      return;
    }
    refuseUtf16(buffer.subarray(0, read), path);
    for (; read > 0; read = fill(file, buffer, path)) yield buffer.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

/**
 * Calls `use` with every line, without its line end, and with its number from 1. Holds only a chunk of the file and a
 * line. The last line need not end; a byte order mark is left out.
 */
export async function forEachLine(path: string, use: (line: string, number: number) => void): Promise<void> {
  let number = 0;
  let rest: Buffer[] = [];
  const emit = (bytes: Buffer) => {
    let text = bytes.toString('utf8');
    if (text.endsWith('\r')) text = text.slice(0, -1);
    if (number === 0 && text.startsWith('\ufeff')) text = text.slice(1);
    use(text, ++number);
  };
  for await (const chunk of inputChunks(path)) {
    let begin = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, begin)) {
      const line = chunk.subarray(begin, end);
      emit(rest.length === 0 ? line : Buffer.concat([...rest, line]));
      rest = [];
      begin = end + 1;
    }
    if (begin < chunk.length) rest.push(Buffer.from(chunk.subarray(begin)));
  }
  if (rest.length > 0) emit(Buffer.concat(rest));
}

async function* unpacked(path: string): AsyncGenerator<Buffer, void, undefined> {
  const [{ createGunzip }, { createReadStream }, { pipeline }] = await Promise.all([
    import('node:zlib'),
    import('node:fs'),
    import('node:stream'),
  ]);
  const stream = pipeline(createReadStream(path), createGunzip({ chunkSize: CHUNK_BYTES / 4 }), () => {});
  let isStart = true;
  try {
    for await (const chunk of stream) {
      if (isStart) refuseUtf16(chunk as Buffer, path);
      isStart = false;
      yield chunk as Buffer;
    }
  } catch (error) {
    throw error instanceof InputError ? error : fileDamaged(path, gzipProblem(error));
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw fileUnreadable(path, readProblem(error));
  }
}

function fill(file: number, buffer: Buffer, path: string): number {
  try {
    return readSync(file, buffer, 0, buffer.length, null);
  } catch (error) {
    throw fileUnreadable(path, readProblem(error));
  }
}
