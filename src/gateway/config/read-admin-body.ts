import { POLICY_SCHEMA, type PolicyKeys, ROUTING_SCHEMA, type RoutingKeys } from '../../policy/bundle/policy-schema.js';
import { field, section, text as textField } from '../../schema/fields.js';
import { bodyPlace, readJson } from '../../schema/read-json.js';
import { CONFIG_CODES, configInvalid, policyOf, type ReplicaKeys, replicaOf, routingOf } from './config-parts.js';
import { REPLICA_SCHEMA } from './config-schema.js';
import { DEFAULT_POLICY, type PolicyConfig, type ReplicaConfig } from './gateway-config.js';

const JOINING_SCHEMA = section('A replica that joins', {
  endpoint: field(textField(), { default: 'default', help: 'the endpoint it joins' }),
  ...REPLICA_SCHEMA.entries,
});

/** What `POST /api/replicas` is sent; an InputError says what is wrong with it. */
export function readReplicaBody(text: string): { endpoint: string; replica: ReplicaConfig } {
  const { given } = readJson(
    text,
    JOINING_SCHEMA,
    CONFIG_CODES,
    'give a replica, as in {"url": "http://127.0.0.1:9001"}',
  );
  const { endpoint = 'default', ...keys } = given as ReplicaKeys & { endpoint?: string };
  return { endpoint, replica: replicaOf(keys, bodyPlace('url')) };
}

/** A whole policy, or in short the keys of its routing alone. */
const NEW_POLICY_SCHEMA = section('A new policy', { ...POLICY_SCHEMA.entries, ...ROUTING_SCHEMA.entries });

/**
 * What `PUT /api/endpoints/{name}/policy` is sent. A whole policy (`routing`, `admission`, `flow_control`, ...) means what it
 * says: the rest of it is as if nothing had ever been said. Keys of the routing at the top change that alone.
 * @param present the policy that holds so far
 * @param warn hears what has no effect
 */
export function readPolicyBody(
  text: string,
  present: PolicyConfig = DEFAULT_POLICY,
  warn: (line: string) => void = () => {},
): PolicyConfig {
  const { given } = readJson(
    text,
    NEW_POLICY_SCHEMA,
    CONFIG_CODES,
    'give a policy, as in {"routing": {"policy": "lmetric"}}',
  );
  const keys = given as PolicyKeys & RoutingKeys;
  const short = Object.keys(keys).find((key) => Object.hasOwn(ROUTING_SCHEMA.entries, key));
  const placeOf = (key: string) => bodyPlace(key);
  if (short === undefined) return policyOf(keys, DEFAULT_POLICY, placeOf, warn);
  const part = Object.keys(keys).find((key) => Object.hasOwn(POLICY_SCHEMA.entries, key));
  if (part !== undefined) {
    throw configInvalid(placeOf(short), `stands beside '${part}'`, `write it as "routing": {"${short}": ...}`);
  }
  return routingOf(keys, { ...DEFAULT_POLICY, ...withoutRouting(present) }, placeOf, warn);
}

function withoutRouting({ name, options, blockSize, cacheBlocks, ...rest }: PolicyConfig) {
  return rest;
}
