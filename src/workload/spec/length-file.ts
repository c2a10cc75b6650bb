import { dirname, isAbsolute, join } from 'node:path';
import { InputError } from '../../kernel/errors.js';
import { fileDamaged, fileUnreadable, specInvalid } from '../errors.js';
import { gzipProblem, readWholeFile } from '../input-file.js';
import type { LengthLimits } from '../lengths/length-distribution.js';

/**
 * The lengths that a file lists, each with its share: CSV with a length, or a length and its share, on every line and
 * maybe a line of names above; or JSON, a list of lengths, a list of pairs, or an object from lengths to shares.
 * @param file as the specification names it, relative to its folder
 * @param naming where the specification names it
 */
export function readLengthFile(
  file: string,
  spec: string,
  limits: LengthLimits,
  naming: string,
): Record<string, number> {
  const path = isAbsolute(file) ? file : join(dirname(spec), file);
  const text = content(path, naming).replace(/^\ufeff/, '');
  const shares = new Map<number, number>();
  const add = (length: number, share: number, place: string) => {
    if (!(Number.isInteger(length) && length >= limits.least && length <= limits.most)) {
      const hint = `give whole numbers from ${limits.least} to ${limits.most}`;
      throw specInvalid(place, `${length} is not a length`, hint);
    }
    if (!(share >= 0 && share < Number.POSITIVE_INFINITY))
      throw specInvalid(place, `${share} is not a share`, 'give numbers from 0');
    shares.set(length, (shares.get(length) ?? 0) + share);
  };
  if (/^\s*[[{]/.test(text)) readJson(text, path, add);
  else readCsv(text, path, add);
  if ([...shares.values()].some((share) => share > 0)) return Object.fromEntries(shares);
  throw specInvalid(path, 'holds no lengths', 'give one length per line, or length,share');
}

type Add = (length: number, share: number, place: string) => void;

function readJson(text: string, path: string, add: Add): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw specInvalid(path, 'is not JSON', 'write a list of lengths, or an object from lengths to shares');
  }
  const entries: unknown[] = Array.isArray(value)
    ? value
    : Object.entries(value as object).map(([k, v]) => [Number(k), v]);
  for (const [i, entry] of entries.entries()) {
    const place = `${path} (entry ${i + 1})`;
    const [length, share] = Array.isArray(entry) ? entry : [entry, 1];
    if (typeof length !== 'number' || typeof share !== 'number') {
      throw specInvalid(
        place,
        `${JSON.stringify(entry)} is not a length`,
        'give lengths, or pairs of a length and its share',
      );
    }
    add(length, share, place);
  }
}

function readCsv(text: string, path: string, add: Add): void {
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const cells = line.split(',');
    const [length, share = 1] = cells.map((cell) => (cell.trim() === '' ? Number.NaN : Number(cell)));
    if (i === 0 && Number.isNaN(length)) continue;
    const place = `${path}:${i + 1}`;
    if (cells.length > 2) throw specInvalid(`${place}:1`, `${cells.length} columns`, 'give a length, or length,share');
    if (Number.isNaN(length))
      throw specInvalid(`${place}:1`, `'${cells[0]!.trim()}' is not a length`, 'give a whole number');
    if (Number.isNaN(share)) {
      throw specInvalid(
        `${place}:${cells[0]!.length + 2}`,
        `'${cells[1]!.trim()}' is not a share`,
        'give a number from 0',
      );
    }
    add(length!, share, `${place}:1`);
  }
}

function content(path: string, naming: string): string {
  try {
    return readWholeFile(path).toString('utf8');
  } catch (error) {
    if (error instanceof InputError && error.code === 'FILE_UTF16') throw error;
    if (error instanceof InputError) throw fileUnreadable(naming, `cannot read '${path}': ${error.problem}`);
    throw fileDamaged(path, gzipProblem(error));
  }
}
