import type * as v from 'valibot';

/** Any schema of the library. */
export type Schema = v.GenericSchema<unknown, unknown>;

/** A section whose keys are documented elsewhere, for those too large for the compiler to spell out. */
export type AnySection = Schema & { readonly entries: Readonly<Record<string, Schema>> };

/** How a field appears as a command-line flag where that differs from its key. */
export interface FlagFacts {
  /** Without dashes; the key in kebab-case unless given. */
  readonly name?: string;
  /** In place of the field's own default. Every use is an intended difference and carries its reason in `why`. */
  readonly default?: unknown;
  readonly why?: string;
  readonly placeholder?: string;
}

/** Where `tune` looks for better values of a number. */
export interface SearchRange {
  readonly from: number;
  readonly to: number;
  /** Equal ratios are equally likely, where halving matters as much as doubling. */
  readonly log?: true;
}

/** Facts about a field for messages and generated pages, which no validator needs. */
export interface Facts {
  /** One line. Also the description in JSON Schema. */
  readonly help?: string;
  /** The effect of an absent key in words, where the default alone is not clear. */
  readonly defaultText?: string;
  /** What a value may be, as the end of a sentence that starts with "give". Only where the schema cannot express it. */
  readonly accepts?: string;
  /** A change takes effect when the process starts again; all other fields can be reloaded. */
  readonly restart?: true;
  readonly flag?: FlagFacts;
  /** Where a policy file also takes an option: a key of the section itself, beside `options`. */
  readonly fileKey?: string;
  /** In place of the default where a policy file names the policy without this option. */
  readonly fileDefault?: unknown;
  /** Heading of a section in the documentation. */
  readonly title?: string;
  /** Stored encrypted and never returned. */
  readonly secret?: true;
  /** What the names of a map are: `models`, `classes`. */
  readonly names?: string;
  /** Makes a number or a choice a knob of `tune`; `true` for a choice: all its names. */
  readonly search?: SearchRange | true;
}

interface Node {
  readonly type: string;
  readonly pipe?: readonly Item[];
  readonly wrapped?: Node & Schema;
}

interface Item extends Node {
  readonly kind: 'schema' | 'validation' | 'transformation' | 'metadata';
  readonly metadata?: Facts;
  readonly description?: string;
  readonly requirement?: unknown;
}

/** The schema inside `optional` and `nullable`. */
export function bare(schema: Schema): Schema {
  let inner = schema as Node & Schema;
  while (inner.wrapped !== undefined) inner = inner.wrapped;
  return inner;
}

/** All facts of a schema, from the inside out: later ones win. */
export function factsOf(schema: Schema): Facts {
  const facts = {};
  collect(schema as unknown as Item, facts);
  return facts;
}

function collect(node: Item, facts: Record<string, unknown>): void {
  if (node.wrapped !== undefined) collect(node.wrapped as unknown as Item, facts);
  for (const item of node.pipe ?? []) {
    if (item.kind === 'schema') collect(item, facts);
    else if (item.metadata !== undefined) Object.assign(facts, item.metadata);
    else if (item.type === 'description') facts.help = item.description;
  }
}

/** The checks of a schema by type, such as `min_value`, with what each requires. */
export function requirementsOf(schema: Schema): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const visit = (node: Item) => {
    if (node.wrapped !== undefined) visit(node.wrapped as unknown as Item);
    for (const item of node.pipe ?? []) {
      if (item.kind === 'schema') visit(item);
      else if (item.kind === 'validation') found.set(item.type, item.requirement);
    }
  };
  visit(schema as unknown as Item);
  return found;
}

/** The keys of a section with their schemas, or null for anything else. */
export function entriesOf(schema: Schema): Readonly<Record<string, Schema>> | null {
  return (bare(schema) as { entries?: Record<string, Schema> }).entries ?? null;
}

/** What a list holds, or a map under names of the user's choice; null for anything else. */
export function itemOf(schema: Schema): Schema | null {
  const inner = bare(schema) as { type: string; item?: Schema; value?: Schema };
  if (inner.type === 'array') return inner.item!;
  return inner.type === 'record' ? inner.value! : null;
}

/**
 * The type of the schema inside all wrappers: `string`, `number`, `picklist`, `strict_object`, `array`, `record`, ...
 */
export function typeOf(schema: Schema): string {
  return (bare(schema) as { type: string }).type;
}

/** The names a field chooses from, or null where it is no choice. */
export function choicesOf(schema: Schema): readonly string[] | null {
  const inner = bare(schema) as { type: string; options?: readonly string[] };
  return inner.type === 'picklist' ? inner.options! : null;
}

/** The alternatives of a union, or null where there are none. */
export function optionsOf(schema: Schema): readonly Schema[] | null {
  const inner = bare(schema) as { type: string; options?: readonly Schema[] };
  return inner.type === 'union' ? inner.options! : null;
}

/** What the names of a map must be; null for anything else. */
export function nameOf(schema: Schema): Schema | null {
  const inner = bare(schema) as { type: string; key?: Schema };
  return inner.type === 'record' ? inner.key! : null;
}

/** Whether the key may be absent. */
export function isOptional(schema: Schema): boolean {
  const { type } = schema as { type: string };
  return type === 'optional' || type === 'exact_optional' || type === 'nullish';
}

/** Whether null is accepted. */
export function isNullable(schema: Schema): boolean {
  const { type, wrapped } = schema as unknown as Node;
  return type === 'nullable' || type === 'nullish' || (wrapped !== undefined && isNullable(wrapped));
}

/** The default of an absent key; undefined without one. */
export function defaultOf(schema: Schema): unknown {
  return (schema as { default?: unknown }).default;
}

/** The schema at a path of keys and indices, or null where the path leaves the schema. */
export function schemaAt(schema: Schema, path: readonly PropertyKey[]): Schema | null {
  let inner: Schema | null = schema;
  for (const step of path) {
    if (inner === null) return null;
    const at: Schema = optionsOf(inner)?.find((one) => itemOf(one) !== null || entriesOf(one) !== null) ?? inner;
    const entries = entriesOf(at);
    inner = entries === null ? itemOf(at) : Object.hasOwn(entries, step) ? entries[step as string]! : null;
  }
  return inner;
}
