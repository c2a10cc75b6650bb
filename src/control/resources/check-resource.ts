import * as v from 'valibot';
import type { InputError } from '../../kernel/errors.js';
import type { Schema } from '../../schema/facts.js';
import { inputError, type Problem, pathText, problemsOf } from '../../schema/problems.js';
import { badDocument, InvalidResources, RESOURCE_CODES, unknownKind } from './errors.js';
import type { PlaceOf, ResourceKind } from './kind.js';
import { KINDS } from './kinds.js';
import { API_VERSION, type Resource, type Status } from './resource.js';

/** Of one resource. */
const MOST_PROBLEMS = 100;

export type Checked = { readonly resource: Resource } | { readonly problems: readonly InputError[] };

/** A resource with its defaults, or everything that is wrong with it. */
export function checkResource(given: unknown, placeOf: PlaceOf): Checked {
  if (!isMap(given)) {
    return { problems: [badDocument(placeOf(''), 'is not a resource', `begin with 'apiVersion: ${API_VERSION}'`)] };
  }
  // For editors only.
  const { $schema: _, ...value } = given;
  // `spec:` with nothing after it, too: messages then name the fields that are missing.
  value.spec ??= {};
  const known = KINDS.map((one) => one.kind);
  if (value.kind === undefined) {
    return { problems: [badDocument(placeOf('kind'), 'is missing', `give one of ${known.join(', ')}`)] };
  }
  const kind = KINDS.find((one) => one.kind === value.kind);
  if (kind === undefined) return { problems: [unknownKind(placeOf('kind'), String(value.kind), known)] };
  const parsed = v.safeParse(kind.schema, value);
  if (parsed.success) {
    const problems = kind.check(parsed.output.spec, placeOf);
    return problems.length > 0 ? { problems } : { resource: parsed.output };
  }
  const found = problemsOf(kind.schema as Schema, value, MOST_PROBLEMS);
  const problems = found.map((one) => inputError(one, placeOf(pathText(one.path)), RESOURCE_CODES));
  // The kind checks what is left, so that all problems are reported at once.
  const rest = v.safeParse(kind.schema, withoutInvalid(value, found));
  return { problems: rest.success ? [...problems, ...kind.check(rest.output.spec, placeOf)] : problems };
}

/** The same, throwing what is wrong. */
export function checkedResource(value: unknown, placeOf: PlaceOf): Resource {
  const checked = checkResource(value, placeOf);
  if ('problems' in checked) throw new InvalidResources(checked.problems);
  return checked.resource;
}

/** A status with its defaults. Throws everything that is wrong with it. */
export function checkedStatus({ statusSchema }: ResourceKind, value: unknown, placeOf: PlaceOf): Status {
  const parsed = v.safeParse(statusSchema, value);
  if (parsed.success) return parsed.output;
  const found = problemsOf(statusSchema as Schema, value, MOST_PROBLEMS);
  throw new InvalidResources(found.map((one) => inputError(one, placeOf(pathText(one.path)), RESOURCE_CODES)));
}

/** A copy without the fields that have problems. */
function withoutInvalid(value: unknown, problems: readonly Problem[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const { path } of problems) {
    let parent = copy;
    for (const step of path.slice(0, -1)) parent = (parent as Record<PropertyKey, unknown> | undefined)?.[step];
    if (isMap(parent)) delete parent[String(path.at(-1))];
  }
  return copy;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
