import { badValue } from '../errors.js';
import { count, listFlag, MAX_INT32, registered, toggle } from '../flags/kinds.js';
import { routingPolicyNames } from '../flags/registered-names.js';

const OPTIONS = 'a JSON object, as in \'{"tie_break":"random"}\'';

function readOptions(text: string, place: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badValue(place, text, 'is not JSON', OPTIONS);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badValue(place, text, 'is not a JSON object', OPTIONS);
  }
  return value as Record<string, unknown>;
}

/** Which policy decides, and what its router remembers. */
export const decideFlags = {
  'routing-policy': registered({ default: null, names: routingPolicyNames, help: 'how a replica is chosen' }),
  'policy-options': listFlag<Record<string, unknown>>({
    default: {},
    placeholder: 'json',
    accepted: OPTIONS,
    read: readOptions,
    help: 'options of the policy, by name',
  }),
  'block-size': count({ default: 512, min: 1, max: MAX_INT32, help: 'tokens per block of a prompt' }),
  'cache-blocks': count({ default: 10_000, max: MAX_INT32, help: 'blocks that the router remembers per replica' }),
  seed: count({ default: 42, help: 'start of the random stream of policies that draw' }),
};

export type DecideFlags = typeof decideFlags & typeof decideOutputFlags;

export const decideOutputFlags = {
  explain: toggle({ help: 'add what the decision saw of every replica' }),
};
