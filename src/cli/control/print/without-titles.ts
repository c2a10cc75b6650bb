import type { CliIo } from '../../io.js';
import type { ResourceFormat } from './resource-format.js';

/** The same, but the first line of a table is dropped: its titles. Rows stay one line each, whatever the terminal. */
export function withoutTitles({ type }: ResourceFormat, io: CliIo): CliIo {
  if (type !== 'table' && type !== 'wide' && type !== 'custom-columns') return io;
  let isFirst = true;
  const write = (text: string) => {
    const rows = isFirst ? text.slice(text.indexOf('\n') + 1) : text;
    isFirst = false;
    return io.stdout.write(rows);
  };
  return { ...io, env: { ...io.env, COLUMNS: undefined }, stdout: { write } };
}
