import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { InputError } from '../../kernel/errors.js';
import { nearestName } from '../../kernel/nearest-name.js';
import { badVariable } from './errors.js';
import type { PlaceOf } from './kind.js';

type Schema = Readonly<Record<string, unknown>>;

/** Why something is not a JSON Schema; null when it is one. */
export function parameterSchemaProblem(schema: Schema): string | null {
  try {
    compiled(schema);
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0]!;
  }
}

/**
 * Everything that is wrong with an endpoint's variables, each with its path, and in no doubt about what would be accepted.
 * Values are not changed: what the schema has as default is the engine's own.
 */
export function variableProblems(
  schema: Schema,
  variables: unknown,
  placeOf: PlaceOf,
  path = 'spec.variables',
): InputError[] {
  const validate = compiled(schema);
  if (validate(variables)) return [];
  const seen = new Set<string>();
  return (validate.errors ?? []).flatMap((error) => {
    const problem = problemOf(error, placeOf, path);
    if (seen.has(problem.message)) return [];
    seen.add(problem.message);
    return [problem];
  });
}

/** By the text of the schema: it is read from the store anew each time, and compiling takes far longer than checking. */
const cache = new Map<string, ValidateFunction>();
const MOST_CACHED = 64;

function compiled(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = cache.get(text);
  if (known !== undefined) return known;
  const isLate = typeof schema.$schema === 'string' && schema.$schema.includes('2020-12');
  // An instance of its own for each: two versions of an engine may share an $id.
  const options = { allErrors: true, strict: false, verbose: true, validateFormats: false, logger: false } as const;
  const validate = new (isLate ? Ajv2020 : Ajv)(options).compile(schema);
  if (cache.size >= MOST_CACHED) cache.clear();
  cache.set(text, validate);
  return validate;
}

function problemOf(error: ErrorObject, placeOf: PlaceOf, root: string): InputError {
  const { instancePath, keyword, params, parentSchema } = error;
  const path = root + pathOf(instancePath);
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const key = String(params.additionalProperty ?? params.unevaluatedProperty);
    const known = Object.keys((parentSchema?.properties as object | undefined) ?? {});
    const near = nearestName(key, known);
    const remedy = near === undefined ? 'leave it out, or add it to the engine' : `did you mean '${near}'?`;
    return badVariable(placeOf(`${path}.${key}`), `the engine takes no '${key}'`, remedy);
  }
  if (keyword === 'required') {
    return badVariable(placeOf(`${path}.${params.missingProperty}`), 'is missing', 'this engine needs it');
  }
  if (keyword === 'enum') {
    const accepted = (params.allowedValues as unknown[]).map(String).join(', ');
    return badVariable(placeOf(path), 'is not one of the values', `give one of ${accepted}`);
  }
  return badVariable(
    placeOf(path),
    error.message ?? 'is refused',
    `see '${error.schemaPath}' of the engine's parameters`,
  );
}

/** `/a/0/b` as `.a[0].b`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('');
}
