import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { InputError } from '../../kernel/errors.js';
import { knownNames, nearestName } from '../../kernel/text/nearest-name.js';
import { shownText } from '../../kernel/text/shown-text.js';
import { badVariable } from './errors.js';
import type { PlaceOf } from './kind.js';

type Schema = Readonly<Record<string, unknown>>;

/** More are not reported: each has a place and a hint, and a map may have thousands of wrong keys. */
const MOST_PROBLEMS = 100;

/** Why a schema is invalid; null when it is valid. */
export function parameterSchemaProblem(schema: Schema): string | null {
  try {
    compiled(schema, true);
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0]!;
  }
}

/**
 * Everything that is wrong with the variables of an endpoint. Defaults are not filled in: they are the engine's own.
 * @param hintOfUnknown for a variable that the schema does not have, where more is known than its names
 */
export function variableProblems(
  schema: Schema,
  variables: unknown,
  placeOf: PlaceOf,
  path = 'spec.variables',
  hintOfUnknown: (name: string) => string | undefined = () => undefined,
): InputError[] {
  const validate = compiled(schema, false);
  if (validate(variables)) return [];
  const seen = new Set<string>();
  return (validate.errors ?? []).slice(0, MOST_PROBLEMS).flatMap((error) => {
    const problem = problemOf(error, placeOf, path, hintOfUnknown);
    if (seen.has(problem.message)) return [];
    seen.add(problem.message);
    return [problem];
  });
}

/** Loaded on first use: most commands that know the kinds never check a variable. */
const require = createRequire(import.meta.url);
const loadAjv = () => (require('ajv') as typeof import('ajv')).Ajv;
const loadAjv2020 = () => (require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020;

/** Loads it ahead of the first check, which would otherwise take as long as many. */
export function loadParameterChecks(): void {
  variableProblems({ type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false }, {}, String);
}

/** By the text of the schema: it is read from the store each time, and compiling takes far longer than checking. */
const cache = new Map<string, { readonly validate: ValidateFunction; readonly isChecked: boolean }>();
const MOST_CACHED = 64;

/** @param isChecked the schema itself is checked, too, as when it is applied; one that is stored has passed that check */
function compiled(schema: Schema, isChecked: boolean): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = cache.get(text);
  if (known !== undefined && (known.isChecked || !isChecked)) return known.validate;
  const isLate = typeof schema.$schema === 'string' && schema.$schema.includes('2020-12');
  // One instance per schema: two versions of an engine may share an $id.
  const options = { allErrors: true, strict: false, verbose: true, validateFormats: false, logger: false } as const;
  const Validator = isLate ? loadAjv2020() : loadAjv();
  const validate = new Validator({ ...options, validateSchema: isChecked, meta: isChecked }).compile(schema);
  if (cache.size >= MOST_CACHED) cache.clear();
  cache.set(text, { validate, isChecked });
  return validate;
}

function problemOf(
  error: ErrorObject,
  placeOf: PlaceOf,
  root: string,
  hintOfUnknown: (name: string) => string | undefined,
): InputError {
  const { data, instancePath, keyword, params, parentSchema } = error;
  const path = root + pathOf(instancePath);
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const key = String(params.additionalProperty ?? params.unevaluatedProperty);
    const known = Object.keys((parentSchema?.properties as object | undefined) ?? {});
    const near = nearestName(key, known);
    const others = known.length === 0 ? 'leave it out' : `known: ${known.join(', ')}`;
    const more = instancePath === '' ? hintOfUnknown(key) : undefined;
    const hint = more ?? (near === undefined ? others : `did you mean '${near}'?`);
    return badVariable(placeOf(`${path}.${key}`), `the engine has no parameter '${key}'`, hint);
  }
  if (keyword === 'required') {
    return badVariable(placeOf(`${path}.${params.missingProperty}`), 'is missing', 'the engine requires it');
  }
  const problem = `${shownValue(data)} is not accepted`;
  if (keyword === 'enum' && typeof data === 'string') {
    return badVariable(placeOf(path), problem, knownNames(data, (params.allowedValues as unknown[]).map(String)));
  }
  return badVariable(placeOf(path), problem, hintOf(error));
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  return typeof value === 'string' ? shownText(value) : String(value);
}

const RELATIONS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '>': 'more than',
  '<=': 'at most',
  '<': 'less than',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  array: 'a list',
  null: 'nothing',
};

/** What the keyword requires. */
function hintOf({ keyword, params, schema }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return `give ${[params.type as string | string[]]
        .flat()
        .map((type) => TYPES[type] ?? type)
        .join(' or ')}`;
    case 'enum':
      return `give one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`;
    case 'const':
      return `give ${JSON.stringify(params.allowedValue)}`;
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `give ${RELATIONS[params.comparison as string]} ${params.limit}`;
    case 'multipleOf':
      return `give a multiple of ${params.multipleOf}`;
    case 'minLength':
    case 'minItems':
      return `give at least ${params.limit} ${keyword === 'minLength' ? 'characters' : 'entries'}`;
    case 'maxLength':
    case 'maxItems':
      return `give at most ${params.limit} ${keyword === 'maxLength' ? 'characters' : 'entries'}`;
    case 'pattern':
      return `give text that matches ${params.pattern}`;
    default:
      return `give what ${keyword} requires: ${shortened(JSON.stringify(schema))}`;
  }
}

const shortened = (text: string) => (text.length > 120 ? `${text.slice(0, 117)}...` : text);

/** `/a/0/b` as `.a[0].b`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('');
}
