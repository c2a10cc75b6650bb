import * as v from 'valibot';
import { InputError } from '../kernel/errors.js';
import type { Schema } from './facts.js';
import { inputError, pathText, problemsOf, type SchemaCodes } from './problems.js';

/** `body`, or `body (spec.replicas)`. */
export function bodyPlace(path: string, name = 'body'): string {
  return path === '' ? name : `${name} (${path})`;
}

/**
 * Reads the JSON body of a request. The error names the first thing wrong with it by its path.
 * @param start how such a body looks, for one that is no JSON
 */
export function readJson<S extends v.GenericSchema>(
  text: string,
  schema: S,
  codes: SchemaCodes,
  start: string,
): { given: v.InferInput<S>; value: v.InferOutput<S> } {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    // The parser's own words would repeat what was sent.
    throw new InputError(codes.invalid, 'body', 'is not valid JSON', start);
  }
  return { given: given as v.InferInput<S>, value: checkValue(given, schema, codes) };
}

/** Plain data that must fit a schema, defaults filled in; otherwise an error at the path below `place`. */
export function checkValue<S extends v.GenericSchema>(
  given: unknown,
  schema: S,
  codes: SchemaCodes,
  place = 'body',
): v.InferOutput<S> {
  const parsed = v.safeParse(schema, given);
  if (parsed.success) return parsed.output;
  const problems = problemsOf(schema as unknown as Schema, given);
  // A key is often missing because it is misspelt.
  const problem = problems.find(({ kind }) => kind !== 'missing') ?? problems[0]!;
  throw inputError(problem, bodyPlace(pathText(problem.path), place), codes);
}
