import type { ResourceKind } from '../../control/resources/kind.js';
import { KINDS } from '../../control/resources/kinds.js';
import { entriesOf, factsOf, itemOf, type Schema, typeOf } from '../../schema/facts.js';
import { type FieldRow, fieldRows } from '../../schema/field-rows.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';

/** Every field of every kind, from the schemas by which resources are checked. */
export function resourcePage(): string {
  return `${madeFrom('src/control/resources/kinds')}
# Resources: every field

[Resources](resources.md) is the guide. Fields that are not listed here are refused. \`[]\` stands for each entry of a list,
\`*\` for each name of a map.

${KINDS.map(kindSection).join('\n')}`;
}

function kindSection(kind: ResourceKind): string {
  const { changedBy, phases, plural, scope, shortNames, summary } = kind;
  const names = [plural, ...shortNames].map(code).join(', ');
  return `## ${kind.kind}

${summary}

- names in commands: ${names}
- scope: ${scope === 'global' ? 'global' : 'a workspace'}
- changed by: ${changedBy}
- phases: ${phases.join(', ')}

${table(kind)}`;
}

function table({ specSchema }: ResourceKind): string {
  const rows = specFields(specSchema).map((row) => [code(row.name), plain(row.values), row.default, plain(row.help)]);
  return markdownTable([['field of `spec`', 'values', 'default', 'meaning'], ...rows]);
}

/** Every field below a section by its path: `engine.name`, `upstreams[].url`, `versions.*.tasks`. */
export function specFields(section: Schema, above = ''): FieldRow[] {
  const entries = entriesOf(section)!;
  return fieldRows(section).flatMap((row) => {
    const schema = entries[row.name]!;
    const path = `${above}${row.name}`;
    const below = sectionBelow(schema, path);
    const own = { ...row, name: path, values: below === null ? row.values : nounOf(schema) };
    return below === null ? [secretRow(own, schema)] : [own, ...specFields(...below)];
  });
}

const secretRow = (row: FieldRow, schema: Schema) => (factsOf(schema).secret ? { ...row, values: 'a secret' } : row);

function sectionBelow(schema: Schema, path: string): [Schema, string] | null {
  if (entriesOf(schema) !== null) return [schema, `${path}.`];
  const item = itemOf(schema);
  if (item === null || entriesOf(item) === null) return null;
  return [item, typeOf(schema) === 'array' ? `${path}[].` : `${path}.*.`];
}

function nounOf(schema: Schema): string {
  if (entriesOf(schema) !== null) return 'a section';
  return typeOf(schema) === 'array' ? 'a list' : `${factsOf(schema).names}, each with a section`;
}
