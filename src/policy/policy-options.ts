import * as v from 'valibot';
import type { Schema } from '../schema/facts.js';
import { section } from '../schema/fields.js';
import { pathText, problemsOf } from '../schema/problems.js';
import { badOption, unknownOption } from './errors.js';
import type { OptionSchema } from './options.js';

/** A routing or admission policy. */
interface HasOptions<Options> {
  name: string;
  options: OptionSchema<Options>;
}

/** Validates given options and fills in defaults; the first problem becomes an InputError at its field. */
export function policyOptions<Options>(policy: HasOptions<Options>, given: unknown, place: string): Options {
  const entries = policy.options as v.ObjectEntries;
  const schema = section(policy.name, entries);
  const parsed = v.safeParse(schema, given);
  if (parsed.success) return parsed.output as Options;
  const known = Object.keys(entries);
  const problems = problemsOf(schema as unknown as Schema, given);
  const { kind, hint, path, problem } = problems.find((one) => one.kind === 'unknown-key') ?? problems[0]!;
  if (kind === 'unknown-key' && path.length === 1) throw unknownOption(policy.name, String(path[0]), known, place);
  if (path.length === 0) throw badOption(policy.name, 'options are not a map of names to values', known, place);
  throw badOption(policy.name, `${problem}: ${hint}`, known, `${place} (${pathText(path)})`);
}
