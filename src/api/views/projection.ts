import type { ResourceKind } from '../../control/resources/kind.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { entriesOf, itemOf, nameOf, type Schema, typeOf } from '../../schema/facts.js';
import { field, text } from '../../schema/fields.js';
import { badQuery } from '../errors.js';

/** Of one request. */
const MOST_FIELDS = 100;

export const FIELDS_QUERY = {
  fields: field(text(4096), {
    help: "only these fields, those of a list's entries included: metadata.name,status.phase; absent: whole resources",
  }),
};

/** Fields by their keys; null: the whole value. */
type Wanted = Map<string, Wanted | null>;

/**
 * A function that returns the wanted fields of a resource of a kind, absent ones left out; without `fields` the whole
 * resource. Throws for a field that the kind does not have.
 */
export function projection(kind: ResourceKind, fields: string | undefined): (resource: object) => object {
  if (fields === undefined) return (resource) => resource;
  const wanted: Wanted = new Map();
  const paths = fields.split(',').map((one) => one.trim());
  if (paths.length > MOST_FIELDS) throw badQuery('fields', `has more than ${MOST_FIELDS} fields`, 'leave some out');
  for (const path of paths) add(wanted, stepsOf(kind, path));
  return (resource) => project(resource, wanted) as object;
}

/** The keys of a path. Below a map that users fill, the rest of the path is one key: labels may contain dots. */
function stepsOf({ kind, schema }: ResourceKind, path: string): string[] {
  const steps: string[] = [];
  let left = path.split('.');
  let at: Schema = schema as Schema;
  while (left.length > 0) {
    while (typeOf(at) === 'array') at = itemOf(at)!;
    const entries = entriesOf(at);
    if (entries === null) {
      const isMap = nameOf(at) !== null;
      const isOpen = isMap || typeOf(at) === 'unknown' || typeOf(at) === 'union' || typeOf(at) === 'any';
      if (!isOpen) throw badQuery('fields', `${steps.join('.')} of ${kind} has no fields`, `give ${steps.join('.')}`);
      return isMap ? [...steps, left.join('.')] : [...steps, ...left];
    }
    const [step, ...rest] = left as [string, ...string[]];
    if (!Object.hasOwn(entries, step)) {
      const where = steps.length === 0 ? kind : `${steps.join('.')} of ${kind}`;
      throw badQuery('fields', `there is no '${step}' in ${where}`, knownNames(step, Object.keys(entries)));
    }
    steps.push(step);
    at = entries[step]!;
    left = rest;
  }
  return steps;
}

function add(wanted: Wanted, [step, ...rest]: readonly string[]): void {
  const known = wanted.get(step!);
  // The whole value includes its fields.
  if (known === null) return;
  if (rest.length === 0) {
    wanted.set(step!, null);
    return;
  }
  const inner: Wanted = known ?? new Map();
  wanted.set(step!, inner);
  add(inner, rest);
}

function project(value: unknown, wanted: Wanted): unknown {
  if (Array.isArray(value)) return value.map((one) => project(one, wanted));
  if (typeof value !== 'object' || value === null) return value;
  const found: Record<string, unknown> = {};
  for (const [key, inner] of wanted) {
    if (!Object.hasOwn(value, key)) continue;
    const own = (value as Record<string, unknown>)[key];
    found[key] = inner === null ? own : project(own, inner);
  }
  return found;
}
