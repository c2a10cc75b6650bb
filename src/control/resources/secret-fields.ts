import { entriesOf, factsOf, itemOf, type Schema } from '../../schema/facts.js';

/** A secret field of a spec. */
export interface SecretField {
  readonly value: unknown;
  /** The value in the other spec. */
  readonly before: unknown;
  /** For messages: `spec.upstreams[1].credential`. */
  readonly path: string;
  /** The same with entries of a list by name where they have one, in any order: `upstreams[spare].credential`. */
  readonly place: string;
  /** The section that has it, now and before. */
  readonly around: Readonly<Record<string, unknown>>;
  readonly aroundBefore: Readonly<Record<string, unknown>>;
}

type Visit = (field: SecretField) => unknown;
type Map = Readonly<Record<string, unknown>>;

/** The same spec with another value in place of each secret. */
export function mapSecrets(schema: Schema, spec: Map, before: Map | null, visit: Visit): Record<string, unknown> {
  return walk(schema, spec, before ?? {}, { path: 'spec', place: '' }, visit) as Record<string, unknown>;
}

function walk(
  schema: Schema,
  value: unknown,
  before: unknown,
  at: { path: string; place: string },
  visit: Visit,
): unknown {
  const item = itemOf(schema);
  if (Array.isArray(value)) {
    if (item === null) return value;
    const others = Array.isArray(before) ? (before as unknown[]) : [];
    return value.map((one, i) => {
      const name = nameOf(one);
      const other = name === undefined ? others[i] : others.find((another) => nameOf(another) === name);
      return walk(item, one, other, { path: `${at.path}[${i}]`, place: `${at.place}[${name ?? i}]` }, visit);
    });
  }
  if (!isMap(value)) return value;
  const other = isMap(before) ? before : {};
  const entries = entriesOf(schema);
  const copy: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) {
    const inner = entries === null ? item : (entries[key] ?? null);
    const next = { path: `${at.path}.${key}`, place: at.place === '' ? key : `${at.place}.${key}` };
    if (inner === null) copy[key] = one;
    else if (factsOf(inner).secret) {
      copy[key] = visit({ value: one, before: other[key], ...next, around: value, aroundBefore: other });
    } else copy[key] = walk(inner, one, other[key], next, visit);
  }
  return copy;
}

const isMap = (value: unknown): value is Map => typeof value === 'object' && value !== null && !Array.isArray(value);

function nameOf(value: unknown): string | undefined {
  return isMap(value) && typeof value.name === 'string' ? value.name : undefined;
}
