import {
  any,
  field,
  type Given,
  list,
  listOf,
  map,
  number,
  pattern,
  required,
  section,
  text,
} from '../../schema/fields.js';
import { invalidShadow } from '../errors.js';
import { policyOptions } from '../policy-options.js';
import { routingPolicy } from '../registry.js';
import { scorersOption } from './scorers-option.js';

/** The most shadows of one endpoint: each costs processor time. */
export const MOST_SHADOWS = 8;

export const SHADOW_SCHEMA = section('Shadow', {
  policy: required(text(), { help: "a routing policy of 'twinyard decide --help'" }),
  name: field(pattern(/^[a-z0-9][a-z0-9._-]*$/, 'lower-case letters, digits, and . _ - inside', 63), {
    defaultText: "the policy's",
    help: 'name in metrics and explanations; needed where two shadows have the same policy',
  }),
  scorers: field(
    list(
      section('Scorer of a shadow', {
        name: required(text(), { help: 'name of the scorer' }),
        weight: required(number(), { help: 'its weight relative to the others; above 0' }),
      }),
    ),
    { help: 'scorers and their weights, for weighted' },
  ),
  options: field(map('options', any), { help: "the policy's options by name, without block_size" }),
});

export const SHADOWS_SCHEMA = listOf(SHADOW_SCHEMA, 0, MOST_SHADOWS);

export type ShadowKeys = Given<typeof SHADOW_SCHEMA>;

/** A policy that decides about the requests of an endpoint and places none. */
export interface ShadowChoice {
  readonly name: string;
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
}

type PlaceOf = (key: string) => string;

/** A shadow from its keys; an `InputError` says what is wrong with it. @param warn called with what has little effect */
export function shadowChoice(
  keys: ShadowKeys,
  placeOf: PlaceOf,
  warn: (line: string) => void = () => {},
): ShadowChoice {
  const policy = routingPolicy(keys.policy, placeOf('policy'));
  const options: Record<string, unknown> = { ...keys.options };
  if (keys.scorers !== undefined) {
    options.scorers = scorersOption(policy, keys.scorers, placeOf('scorers'), "write 'policy: weighted'", warn);
  }
  policyOptions(policy, options, placeOf('options'));
  if (options.block_size !== undefined && options.block_size !== 0) {
    const problem = 'a shadow reads prompts in the blocks of the policy that serves';
    throw invalidShadow(placeOf('options'), problem, "leave 'block_size' out, or set it for the policy that serves");
  }
  return { name: keys.name ?? keys.policy, policy: keys.policy, options };
}

/** The shadows of an endpoint, each with a name of its own. */
export function shadowChoices(
  list: readonly ShadowKeys[],
  placeOf: PlaceOf,
  warn?: (line: string) => void,
): ShadowChoice[] {
  const names = new Set<string>();
  return list.map((keys, i) => {
    const choice = shadowChoice(keys, (key) => placeOf(`shadow[${i}].${key}`), warn);
    if (names.has(choice.name)) {
      const place = placeOf(`shadow[${i}].${keys.name === undefined ? 'policy' : 'name'}`);
      throw invalidShadow(place, `there are two shadows '${choice.name}'`, 'give each a name of its own');
    }
    names.add(choice.name);
    return choice;
  });
}

/** A shadow as files and the API write it. */
export function shadowKeys({ name, options, policy }: ShadowChoice): ShadowKeys {
  return { name, policy, options: { ...options } };
}
