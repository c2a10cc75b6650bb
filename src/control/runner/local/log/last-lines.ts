import { type FileHandle, open } from 'node:fs/promises';
import { LF } from '../../../../kernel/text/ascii.js';

const CHUNK = 64 * 1024;
/** Longer lines are cut, in characters. */
const LONGEST = 4096;

/** Removes known secrets from a line. */
export type Scrub = (line: string) => string;

/**
 * The last lines of a text that is spread over files, the oldest first, and what follows the last newline. Reads no more than is
 * needed; missing files count as empty.
 * @param scrub applied to each line
 * @param end reads the last file only up to here
 */
export async function lastLines(
  paths: readonly string[],
  count: number,
  scrub: Scrub,
  end = Number.POSITIVE_INFINITY,
): Promise<{ lines: string[]; rest: Buffer }> {
  const chunks: Buffer[] = [];
  let newlines = 0;
  for (const [i, path] of [...paths.entries()].reverse()) {
    const file = await open(path, 'r').catch(() => null);
    if (file === null) continue;
    try {
      const { size } = await file.stat();
      let at = i === paths.length - 1 ? Math.min(size, end) : size;
      while (at > 0 && newlines <= count) {
        const start = Math.max(0, at - CHUNK);
        const chunk = await readPart(file, start, at);
        chunks.unshift(chunk);
        for (const byte of chunk) if (byte === LF) newlines++;
        at = start;
      }
    } finally {
      await file.close();
    }
  }
  const { lines, rest } = splitLines(Buffer.concat(chunks), scrub);
  return { lines: count === 0 ? [] : lines.slice(-count), rest };
}

/** The bytes of a file between two offsets, or fewer if it has become shorter. */
export async function readPart(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}

/** Complete lines, and the beginning of the next. */
export function splitLines(bytes: Buffer, scrub: Scrub): { lines: string[]; rest: Buffer } {
  const lines: string[] = [];
  let from = 0;
  for (let to = bytes.indexOf(LF); to !== -1; to = bytes.indexOf(LF, from)) {
    lines.push(shownLine(bytes.subarray(from, to), scrub));
    from = to + 1;
  }
  return { lines, rest: bytes.subarray(from) };
}

/** A line as a terminal shows it: of a progress line that overwrites itself, the last state; cut to a maximum; without secrets. */
export function shownLine(bytes: Buffer, scrub: Scrub): string {
  const text = bytes.toString('utf8').replace(/\r+$/, '');
  return scrub(text.slice(text.lastIndexOf('\r') + 1).slice(0, LONGEST));
}
