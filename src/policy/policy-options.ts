import { z } from 'zod';
import { badOption, unknownOption } from './errors.js';

/** Anything that describes its options by a schema: routing and admission policies. */
interface HasOptions<Options> {
  name: string;
  options: z.ZodType<Options>;
}

/** Checks options as a person wrote them and fills in defaults; the first thing wrong becomes an InputError at its field. */
export function policyOptions<Options>(policy: HasOptions<Options>, given: unknown, place: string): Options {
  const parsed = policy.options.safeParse(given);
  if (parsed.success) return parsed.data;
  const known = policy.options instanceof z.ZodObject ? Object.keys(policy.options.shape) : [];
  const issue = parsed.error.issues[0]!;
  if (issue.code === 'unrecognized_keys') throw unknownOption(policy.name, issue.keys[0]!, known, place);
  const field = issue.path.join('.');
  throw badOption(policy.name, issue.message, known, field === '' ? place : `${place} (${field})`);
}
