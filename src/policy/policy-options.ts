import { badOption, unknownOption } from './errors.js';
import type { OptionSchema } from './options.js';

/** Anything that describes its options: routing and admission policies. */
interface HasOptions<Options> {
  name: string;
  options: OptionSchema<Options>;
}

/** Checks options as a person wrote them and fills in defaults; the first thing wrong becomes an InputError at its field. */
export function policyOptions<Options>(policy: HasOptions<Options>, given: unknown, place: string): Options {
  const schema = policy.options as OptionSchema<Record<string, unknown>>;
  const known = Object.keys(schema);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw badOption(policy.name, 'options are not a map of names to values', known, place);
  }
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownOption(policy.name, unknown, known, place);
  const options: Record<string, unknown> = {};
  for (const name of known) {
    const value = (given as Record<string, unknown>)[name] ?? schema[name]!.default;
    const problem = schema[name]!.problem(value);
    if (problem !== null) throw badOption(policy.name, problem, known, `${place} (${name})`);
    options[name] = value;
  }
  return options as Options;
}
