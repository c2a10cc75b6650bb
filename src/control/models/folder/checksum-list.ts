import { badChecksumLine } from '../errors.js';

/** What `sha256sum` prints and checks, beside the files that it is about. */
export const CHECKSUM_LIST = 'SHA256SUMS';

const LINE = /^([0-9a-fA-F]{64}) [ *](?:\.\/)?(.+)$/;

/** SHA-256 in hexadecimal digits by path. */
export function readChecksumList(text: string, file: string): Map<string, string> {
  const sums = new Map<string, string>();
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const match = LINE.exec(line.trimEnd());
    if (match === null) throw badChecksumLine(file, i + 1);
    sums.set(match[2]!, match[1]!.toLowerCase());
  }
  return sums;
}
