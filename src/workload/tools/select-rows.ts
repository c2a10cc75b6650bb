import type { NameTable } from '../../kernel/name-table.js';
import { isSorted } from '../arrival-order.js';
import { selectObserved } from '../observed.js';
import { PromptBlocks } from '../prompt-blocks.js';
import { RequestTable, setSourceId, sourceIdOf } from '../request-table.js';
import type { Trace } from '../trace.js';

/** The columns that hold names, with the table their numbers belong to. */
export const NAME_COLUMNS = {
  client: 'clients',
  tenant: 'tenants',
  sloClass: 'sloClasses',
  session: 'sessions',
  prefixGroup: 'prefixGroups',
  model: 'models',
} as const;

export type NamedColumn = keyof typeof NAME_COLUMNS;

/** The name that takes the place of the n-th different one, from 0, of a column; what it returns must be unique in it. */
export type Rename = (column: NamedColumn, name: string, n: number) => string;

const PLAIN_COLUMNS = [
  'arrivalUs',
  'inputTokens',
  'outputTokens',
  'deadlineUs',
  'sloTargetUs',
  'round',
  'flags',
] as const;

/**
 * A new trace of these rows, in this order; the input is not changed. Names and blocks without a row are dropped: the
 * others are numbered in order of appearance.
 */
export function selectRows(trace: Trace, rows: Int32Array, rename: Rename = (_, name) => name): Trace {
  const from = trace.table;
  const table = new RequestTable(rows.length);
  while (table.count < rows.length) table.append();
  for (let row = 0; row < rows.length; row++) setSourceId(table, row, sourceIdOf(from, rows[row]!));
  for (const column of PLAIN_COLUMNS) copyColumn(from[column], table[column], rows);
  if (from.kinds !== null) {
    const kinds = table.ensureKinds();
    for (const kind of ['text', 'image', 'audio', 'video', 'reasonRatio'] as const) {
      copyColumn(from.kinds[kind], kinds[kind], rows);
    }
  }
  for (const column of Object.keys(NAME_COLUMNS) as NamedColumn[]) {
    const kind = NAME_COLUMNS[column];
    const numbers = copyNames(from[column], from[kind], table[column], table[kind], rows, (name, n) =>
      rename(column, name, n),
    );
    if (column === 'client') copyFacts(from.networks, table.networks, numbers);
    if (column === 'session') copyFacts(from.contextTokens, table.contextTokens, numbers);
    if (column === 'prefixGroup') copyFacts(from.prefixTokens, table.prefixTokens, numbers);
  }
  if (from.blocks !== null) table.blocks = copyBlocks(from.blocks, rows);
  const picked = (column: Float64Array) => {
    const copy = new Float64Array(rows.length);
    copyColumn(column, copy, rows);
    return copy;
  };
  return {
    format: trace.format,
    header: trace.header,
    table,
    wantedUs: picked(trace.wantedUs),
    thinkTimeUs: trace.thinkTimeUs === null ? null : picked(trace.thinkTimeUs),
    unsorted: !isSorted(table),
    ...(trace.observed === undefined ? {} : { observed: selectObserved(trace.observed, rows) }),
    place: (row, column) => trace.place(rows[row]!, column),
  };
}

type Column = Float64Array | Int32Array | Uint16Array | Uint8Array;

function copyColumn(from: Column, to: Column, rows: Int32Array): void {
  for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]!]!;
}

/** Copies a column of names; returns the old number of each new one. */
function copyNames(
  from: Column,
  fromNames: NameTable,
  to: Column,
  toNames: NameTable,
  rows: Int32Array,
  rename: (name: string, n: number) => string,
): number[] {
  const numbers = new Int32Array(fromNames.size);
  const olds = [0];
  for (let i = 0; i < rows.length; i++) {
    const old = from[rows[i]!]!;
    if (old > 0 && numbers[old] === 0) {
      numbers[old] = toNames.index(rename(fromNames.name(old), olds.length - 1));
      olds.push(old);
    }
    to[i] = numbers[old]!;
  }
  return olds;
}

/** Facts by number of a name, for the new numbers. */
function copyFacts<T>(from: readonly T[], to: T[], olds: readonly number[]): void {
  olds.forEach((old, number) => {
    if (old in from) to[number] = from[old]!;
  });
}

/** Block numbers are chained, so they serve as ids: the blocks of the chosen rows, and how many of them have each. */
function copyBlocks(from: PromptBlocks, rows: Int32Array): PromptBlocks {
  const blocks = new PromptBlocks(from.blockTokens);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const count = from.blocksOf(row);
    for (let b = 0; b < count; b++) blocks.add(from.block(row, b));
    blocks.endRow(i);
  }
  return blocks;
}
