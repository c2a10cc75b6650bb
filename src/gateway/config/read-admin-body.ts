import { POLICY_SCHEMA, type PolicyKeys, ROUTING_SCHEMA, type RoutingKeys } from '../../policy/bundle/policy-schema.js';
import { SHADOW_SCHEMA, type ShadowChoice, type ShadowKeys, shadowChoice } from '../../policy/bundle/shadow-choice.js';
import { section } from '../../schema/fields.js';
import { bodyPlace, checkValue } from '../../schema/read-json.js';
import { CONFIG_CODES, configInvalid, policyOf, type ReplicaKeys, replicaOf, routingOf } from './config-parts.js';
import { REPLICA_SCHEMA } from './config-schema.js';
import { DEFAULT_POLICY, type PolicyConfig, type ReplicaConfig } from './gateway-config.js';

/** The replica that the body of a request describes; an InputError says what is wrong with it. */
export function readReplicaBody(given: unknown): ReplicaConfig {
  checkValue(given, REPLICA_SCHEMA, CONFIG_CODES);
  return replicaOf(given as ReplicaKeys, bodyPlace('url'));
}

/** The shadow of this name that the body of a request describes. */
export function readShadowBody(given: object, name: string): ShadowChoice {
  const keys = { ...given, name };
  checkValue(keys, SHADOW_SCHEMA, CONFIG_CODES);
  return shadowChoice(keys as unknown as ShadowKeys, bodyPlace);
}

/** A whole policy, or in short the keys of its routing alone. */
export const NEW_POLICY_SCHEMA = section('A new policy', { ...POLICY_SCHEMA.entries, ...ROUTING_SCHEMA.entries });

/**
 * The policy that the body of a request describes. A whole policy (`routing`, `admission`, `flow_control`, ...) replaces the
 * present one: what it leaves out has its default, but shadows stay unless it lists them. Keys of the routing at the top change that alone.
 * @param present the policy in force
 * @param warn called with what has no effect
 */
export function readPolicyBody(
  given: unknown,
  present: PolicyConfig = DEFAULT_POLICY,
  warn: (line: string) => void = () => {},
): PolicyConfig {
  checkValue(given, NEW_POLICY_SCHEMA, CONFIG_CODES);
  const keys = given as PolicyKeys & RoutingKeys;
  const short = Object.keys(keys).find((key) => Object.hasOwn(ROUTING_SCHEMA.entries, key));
  const placeOf = (key: string) => bodyPlace(key);
  if (short === undefined) return policyOf(keys, { ...DEFAULT_POLICY, shadows: present.shadows }, placeOf, warn);
  const part = Object.keys(keys).find((key) => Object.hasOwn(POLICY_SCHEMA.entries, key));
  if (part !== undefined) {
    throw configInvalid(placeOf(short), `stands beside '${part}'`, `write it as "routing": {"${short}": ...}`);
  }
  return routingOf(keys, { ...DEFAULT_POLICY, ...withoutRouting(present) }, placeOf, warn);
}

function withoutRouting({ name, options, blockSize, cacheBlocks, ...rest }: PolicyConfig) {
  return rest;
}
