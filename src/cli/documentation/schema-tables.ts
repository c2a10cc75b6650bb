import { entriesOf, factsOf, itemOf, type Schema, typeOf } from '../../schema/facts.js';
import { type FieldRow, fieldRows } from '../../schema/field-rows.js';
import { code, markdownTable, plain } from './markdown.js';

/** Keys with their values, defaults and meaning. */
export function keyTable(section: Schema, only: (name: string) => boolean = () => true): string {
  const entries = entriesOf(section)!;
  const rows = fieldRows(section)
    .filter(({ name }) => only(name))
    .map((row) => [code(row.name), values(row, entries[row.name]!), row.default, row.help]);
  return markdownTable([['key', 'values', 'default', 'meaning'], ...rows]);
}

function values(row: FieldRow, schema: Schema): string {
  if (row.section === null) {
    return plain(typeOf(schema) === 'record' ? (factsOf(schema).names ?? 'names') : row.values);
  }
  const link = `[${row.section}](#${row.section.toLowerCase().replaceAll(' ', '-')})`;
  if (itemOf(schema) === null) return link;
  return typeOf(schema) === 'array' ? `list of ${link}` : `${factsOf(schema).names}: ${link}`;
}
