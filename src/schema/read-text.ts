import * as v from 'valibot';
import { InputError } from '../kernel/errors.js';
import { accepted } from './accepted.js';
import type { Schema } from './facts.js';
import { requirementsOf, typeOf } from './facts.js';
import { inputError, problemsOf, type SchemaCodes } from './problems.js';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A single value as a person types it behind a flag, checked by its schema. */
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
  throw inputError(problemsOf(any, value)[0]!, place, codes);
}

function readNumber(text: string, schema: Schema, codes: SchemaCodes, place: string): number {
  const fail = (problem: string) =>
    new InputError(codes.invalid, place, `'${text}' ${problem}`, `give ${accepted(schema)}`);
  if (!NUMBER.test(text.trim())) throw fail('is not a number');
  const value = Number(text);
  const isWhole = requirementsOf(schema).has('integer');
  if (!Number.isFinite(value) || (isWhole && Math.abs(value) > Number.MAX_SAFE_INTEGER)) throw fail('is too large');
  return value === 0 ? 0 : value;
}
