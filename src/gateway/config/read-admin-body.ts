import type { Kind } from '../../kernel/yaml/schema.js';
import { BUNDLE_KIND, type BundleKeys, ROUTING_KIND, type RoutingKeys } from '../../policy/bundle/bundle-keys.js';
import { readJsonBody } from '../server/read-json-body.js';
import { CONFIG_ERRORS, configInvalid, policyOf, type ReplicaKeys, replicaOf, routingOf } from './config-parts.js';
import { REPLICA_KIND } from './config-schema.js';
import { DEFAULT_POLICY, type PolicyConfig, type ReplicaConfig } from './gateway-config.js';

const JOINING_KIND: Kind = {
  type: 'keys',
  title: 'A replica that joins',
  keys: {
    endpoint: { kind: { type: 'text' }, default: 'default', help: 'which it joins' },
    ...REPLICA_KIND.keys,
  },
};

/** What `POST /api/replicas` is sent; an InputError says what is wrong with it. */
export function readReplicaBody(text: string): { endpoint: string; replica: ReplicaConfig } {
  const { places, value } = readJsonBody(
    text,
    JOINING_KIND,
    CONFIG_ERRORS,
    'give a replica, as in {"url": "http://127.0.0.1:9001"}',
  );
  const { endpoint = 'default', ...keys } = value as ReplicaKeys & { endpoint?: string };
  return { endpoint, replica: replicaOf(keys, places.of('url')) };
}

/** A whole policy, or in short the keys of its routing alone. */
const POLICY_KIND: Kind = {
  type: 'keys',
  title: 'A policy that takes over',
  keys: { ...BUNDLE_KIND.keys, ...ROUTING_KIND.keys },
};

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
  const { places, value } = readJsonBody(
    text,
    POLICY_KIND,
    CONFIG_ERRORS,
    'give a policy, as in {"routing": {"policy": "lmetric"}}',
  );
  const keys = value as BundleKeys & RoutingKeys;
  const short = Object.keys(keys).find((key) => Object.hasOwn(ROUTING_KIND.keys, key));
  const placeOf = (key: string) => places.of(key);
  if (short === undefined) return policyOf(keys, DEFAULT_POLICY, placeOf, warn);
  const part = Object.keys(keys).find((key) => Object.hasOwn(BUNDLE_KIND.keys, key));
  if (part !== undefined) {
    throw configInvalid(placeOf(short), `stands beside '${part}'`, `write it as "routing": {"${short}": ...}`);
  }
  return routingOf(keys, { ...DEFAULT_POLICY, ...withoutRouting(present) }, placeOf, warn);
}

function withoutRouting({ name, options, blockSize, cacheBlocks, ...rest }: PolicyConfig) {
  return rest;
}
