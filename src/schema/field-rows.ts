import { accepted } from './accepted.js';
import { defaultOf, entriesOf, factsOf, isOptional, itemOf, type Schema } from './facts.js';

/** One key of a section as a table of the documentation shows it. */
export interface FieldRow {
  readonly name: string;
  /** What the value may be; for a section, its title. */
  readonly values: string;
  /** The section that the value, or each of its items, is. */
  readonly section: string | null;
  readonly default: string;
  readonly help: string;
  readonly needsRestart: boolean;
}

export function fieldRows(section: Schema): FieldRow[] {
  return Object.entries(entriesOf(section)!).map(([name, schema]) => {
    const facts = factsOf(schema);
    const inner = itemOf(schema) ?? schema;
    return {
      name,
      values: accepted(schema),
      section: entriesOf(inner) === null ? null : (titleOf(inner) ?? name),
      default: isOptional(schema) ? (facts.defaultText ?? shownDefault(defaultOf(schema))) : 'required',
      help: facts.help ?? '',
      needsRestart: facts.restart === true,
    };
  });
}

/** All sections below one, each once, in the order in which they are first named. */
export function sectionsOf(top: Schema): Map<string, Schema> {
  const found = new Map<string, Schema>();
  const visit = (schema: Schema) => {
    const item = itemOf(schema);
    if (item !== null) return visit(item);
    const title = titleOf(schema);
    const entries = entriesOf(schema);
    if (entries === null || (title !== undefined && found.has(title))) return;
    if (schema !== top && title !== undefined) found.set(title, schema);
    for (const inner of Object.values(entries)) visit(inner);
  };
  visit(top);
  return found;
}

function titleOf(schema: Schema): string | undefined {
  return factsOf(schema).title;
}

function shownDefault(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
