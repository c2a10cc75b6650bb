import type { JsonSchema } from './kind.js';

/** A secret of a spec, found by its schema. */
export interface SecretField {
  readonly value: unknown;
  /** What stood there in the other spec. */
  readonly before: unknown;
  /** For messages: `spec.upstreams[1].credential`. */
  readonly path: string;
  /** The same, but entries of a list that have names are called by them, wherever they stand: `upstreams[spare].credential`. */
  readonly place: string;
  /** What it is part of, now and before. */
  readonly around: Readonly<Record<string, unknown>>;
  readonly aroundBefore: Readonly<Record<string, unknown>>;
}

type Visit = (field: SecretField) => unknown;
type Map = Readonly<Record<string, unknown>>;

/** The same spec with another value in place of each secret that it holds. */
export function mapSecrets(schema: JsonSchema, spec: Map, before: Map | null, visit: Visit): Record<string, unknown> {
  const at = schema.properties?.spec ?? {};
  return walk(at, spec, before ?? {}, { path: 'spec', place: '' }, visit) as Record<string, unknown>;
}

function walk(
  schema: JsonSchema,
  value: unknown,
  before: unknown,
  at: { path: string; place: string },
  visit: Visit,
): unknown {
  const items = schema.items;
  if (Array.isArray(value)) {
    if (items === undefined) return value;
    const others = Array.isArray(before) ? (before as unknown[]) : [];
    return value.map((item, i) => {
      const name = nameOf(item);
      const other = name === undefined ? others[i] : others.find((one) => nameOf(one) === name);
      const inner = { path: `${at.path}[${i}]`, place: `${at.place}[${name ?? i}]` };
      return walk(items, item, other, inner, visit);
    });
  }
  if (!isMap(value)) return value;
  const other = isMap(before) ? before : {};
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const inner = schema.properties?.[key] ?? schema.additionalProperties;
    const next = { path: `${at.path}.${key}`, place: at.place === '' ? key : `${at.place}.${key}` };
    if (typeof inner !== 'object') copy[key] = item;
    else if (inner.writeOnly) {
      copy[key] = visit({ value: item, before: other[key], ...next, around: value, aroundBefore: other });
    } else copy[key] = walk(inner, item, other[key], next, visit);
  }
  return copy;
}

const isMap = (value: unknown): value is Map => typeof value === 'object' && value !== null && !Array.isArray(value);

function nameOf(value: unknown): string | undefined {
  return isMap(value) && typeof value.name === 'string' ? value.name : undefined;
}
