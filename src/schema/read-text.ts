import * as v from 'valibot';
import { InputError } from '../kernel/errors.js';
import { shownText } from '../kernel/text/shown-text.js';
import { accepted } from './accepted.js';
import type { Schema } from './facts.js';
import { requirementsOf, typeOf } from './facts.js';
import { inputError, problemsOf, type SchemaCodes } from './problems.js';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A single value given to a flag, checked by its schema. */
export function readText<S extends v.GenericSchema>(
  text: string,
  schema: S,
  codes: SchemaCodes,
  place: string,
): v.InferOutput<S> {
  const any = schema as unknown as Schema;
  const value = typeOf(any) === 'number' ? readNumber(text, any, codes, place) : text;
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const found = problemsOf(any, value)[0]!;
  // As it was typed: 1e9, not 1000000000.
  const problem = found.problem.replace(`${value} `, () => `${shownText(text)} `);
  throw inputError(typeof value === 'number' ? { ...found, problem } : found, place, codes);
}

function readNumber(text: string, schema: Schema, codes: SchemaCodes, place: string): number {
  const fail = (problem: string, most = '') =>
    new InputError(codes.invalid, place, `${shownText(text)} ${problem}`, `give ${accepted(schema)}${most}`);
  if (!NUMBER.test(text.trim())) throw fail('is not a number');
  const value = Number(text);
  const most = requirementsOf(schema).has('integer') ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  if (Math.abs(value) > most) throw fail('is too large', `, at most ${most}`);
  return value === 0 ? 0 : value;
}
