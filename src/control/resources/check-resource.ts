import type { z } from 'zod';
import type { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';
import { badDocument, InvalidResources, invalidField, unknownField, unknownKind } from './errors.js';
import type { JsonSchema, PlaceOf, ResourceKind } from './kind.js';
import { KINDS } from './kinds.js';
import { API_VERSION, type Resource } from './resource.js';
import { shownValue } from './shown-value.js';

export type Checked = { readonly resource: Resource } | { readonly problems: readonly InputError[] };

/** A resource from what somebody wrote, complete with its defaults; or everything that is wrong with it. */
export function checkResource(value: unknown, placeOf: PlaceOf): Checked {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problems: [badDocument(placeOf(''), 'is not a resource', `begin with 'apiVersion: ${API_VERSION}'`)] };
  }
  const { kind: given } = value as { kind?: unknown };
  const known = KINDS.map((one) => one.kind);
  if (given === undefined) {
    return { problems: [badDocument(placeOf('kind'), 'is missing', `give one of ${known.join(', ')}`)] };
  }
  const kind = KINDS.find((one) => one.kind === given);
  if (kind === undefined) return { problems: [unknownKind(placeOf('kind'), String(given), known)] };
  const parsed = kind.schema.safeParse(value);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const problems = issues.flatMap((issue) => problemsOf(issue, [], value, kind, placeOf));
    // What the schema cannot say is looked for in what is left: all of it is to be put right at once.
    const rest = kind.schema.safeParse(withoutBad(value, issues));
    return { problems: rest.success ? [...problems, ...kind.check(rest.data.spec, placeOf)] : problems };
  }
  const problems = kind.check(parsed.data.spec, placeOf);
  return problems.length > 0 ? { problems } : { resource: parsed.data };
}

/** The same, for those who go on only with what is right. */
export function checkedResource(value: unknown, placeOf: PlaceOf): Resource {
  const checked = checkResource(value, placeOf);
  if ('problems' in checked) throw new InvalidResources(checked.problems);
  return checked.resource;
}

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

function problemsOf(issue: Issue, above: Path, root: unknown, kind: ResourceKind, placeOf: PlaceOf): InputError[] {
  const steps = [...above, ...issue.path];
  const path = shownPath(steps);
  const place = placeOf(path);
  const value = valueAt(root, steps);
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(kind.jsonSchema, steps);
    return issue.keys.map((key) => unknownField(placeOf(path === '' ? key : `${path}.${key}`), key, known));
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.map((inner) => invalidField(place, 'has a name that is not accepted', `give ${inner.message}`));
  }
  if (value === undefined) return [invalidField(place, 'is missing', `give ${acceptedBy(issue)}`)];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    // What came closest: the alternative whose mistakes are deepest.
    const depth = (one: readonly Issue[]) => Math.max(...one.map((inner) => inner.path.length));
    const closest = [...issue.errors].sort((a, b) => depth(b) - depth(a))[0]!;
    return closest.flatMap((inner) => problemsOf(inner, steps, root, kind, placeOf));
  }
  if (issue.code === 'invalid_value' && typeof value === 'string') {
    return [invalidField(place, `unknown value '${value}'`, knownNames(value, issue.values.map(String)))];
  }
  const isSecret = mayBeSecret(schemaAt(kind.jsonSchema, steps)) || hasPassword(value);
  const given = isSecret ? '' : `${shownValue(value)} `;
  return [invalidField(place, `${given}is not accepted`, `give ${acceptedBy(issue)}`)];
}

/** What is secret, or has a secret in it, or is not known at all. */
function mayBeSecret(schema: JsonSchema | undefined): boolean {
  return schema === undefined || JSON.stringify(schema).includes('"writeOnly":true');
}

const hasPassword = (value: unknown) => typeof value === 'string' && /\/\/[^/]*@/.test(value);

/** As the end of a sentence that starts with "give". */
function acceptedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.length === 1
        ? `'${String(issue.values[0])}'`
        : `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return sized(issue.origin, issue.inclusive === false ? 'more than' : 'at least', Number(issue.minimum));
    case 'too_big':
      return sized(issue.origin, issue.inclusive === false ? 'less than' : 'at most', Number(issue.maximum));
    case 'invalid_format':
      return issue.format === 'datetime' ? "a time as '2030-01-31T18:00:00Z'" : issue.message;
    default:
      return 'another value';
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'its keys',
  record: 'a map',
  array: 'a list',
};

function sized(origin: string, relation: string, bound: number): string {
  if (origin === 'string') return `${relation} ${bound} characters`;
  return origin === 'array' ? `${relation} ${bound} entries` : `${relation} ${bound}`;
}

/** `spec.upstreams[1].url` */
export function shownPath(steps: Path): string {
  return steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

/** A copy without the parts that are wrong. */
function withoutBad(value: unknown, issues: readonly Issue[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const issue of issues) {
    const steps = issue.path.slice(0, -1);
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : issue.path.slice(-1);
    const around = valueAt(copy, issue.code === 'unrecognized_keys' ? issue.path : steps);
    if (typeof around !== 'object' || around === null || Array.isArray(around)) continue;
    for (const key of keys) delete (around as Record<PropertyKey, unknown>)[key];
  }
  return copy;
}

function valueAt(root: unknown, steps: Path): unknown {
  let value = root;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

/** What may stand at a place, by the schema. */
function keysAt(schema: JsonSchema, steps: Path): string[] {
  const keys = Object.keys(schemaAt(schema, steps)?.properties ?? {});
  return steps.length === 0 ? keys.filter((key) => key !== 'status') : keys;
}

function schemaAt(schema: JsonSchema, steps: Path): JsonSchema | undefined {
  let at: JsonSchema | undefined = schema;
  for (const step of steps) {
    if (typeof step === 'number') at = at?.items;
    else at = at?.properties?.[String(step)] ?? (at?.additionalProperties as JsonSchema | undefined);
  }
  return at;
}
