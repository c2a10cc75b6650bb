import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { readProblem } from '../../files/file-problem.js';
import { missingColumn, notANumber, unreadable } from './errors.js';

/**
 * A CSV file of numbers, by column; `.gz` is unpacked. Columns that are not used may hold anything; optional ones are
 * left out where the file does not have them.
 */
export function readNumberTable<Name extends string, Optional extends string = never>(
  path: string,
  needed: readonly Name[],
  optional: readonly Optional[] = [],
): { count: number; columns: Record<Name, Float64Array> & Partial<Record<Optional, Float64Array>> } {
  const [header = '', ...lines] = textOf(path).trimEnd().split(/\r?\n/);
  const titles = header.split(',');
  const names = [...needed, ...optional.filter((name) => titles.includes(name))];
  const places = names.map((name) => {
    const at = titles.indexOf(name);
    if (at < 0) throw missingColumn(`${path}:1`, name);
    return at;
  });
  const columns: Record<string, Float64Array> = Object.fromEntries(
    names.map((name) => [name, new Float64Array(lines.length)]),
  );
  for (const [row, line] of lines.entries()) {
    const cells = line.split(',');
    for (const [i, name] of names.entries()) {
      const cell = cells[places[i]!];
      const value = cell === undefined || cell.trim() === '' ? Number.NaN : Number(cell);
      if (!Number.isFinite(value)) throw notANumber(`${path}:${row + 2} (${name})`, cell ?? '');
      columns[name]![row] = value;
    }
  }
  return { count: lines.length, columns: columns as Record<Name | Optional, Float64Array> };
}

function textOf(path: string): string {
  try {
    const bytes = readFileSync(path);
    return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw unreadable(path, readProblem(error));
  }
}
