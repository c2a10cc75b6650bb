import type { Kind } from '../kernel/yaml/schema.js';
import { readStrictYaml } from '../kernel/yaml/strict-yaml.js';
import type { YamlPlaces } from '../kernel/yaml/yaml-places.js';
import {
  CONFIG_ERRORS,
  configInvalid,
  policyOf,
  type ReplicaKeys,
  type RoutingKeys,
  replicaOf,
} from './config-parts.js';
import { REPLICA_KIND, ROUTING_KIND } from './config-schema.js';
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
  const { places, value } = readJson(text, JOINING_KIND, 'give a replica, as in {"url": "http://127.0.0.1:9001"}');
  const { endpoint = 'default', ...keys } = value as ReplicaKeys & { endpoint?: string };
  return { endpoint, replica: replicaOf(keys, places.of('url')) };
}

/** What `PUT /api/endpoints/{name}/policy` is sent: what it does not say is as if nothing had ever been said. */
export function readPolicyBody(text: string): PolicyConfig {
  const { places, value } = readJson(text, ROUTING_KIND, 'give a policy, as in {"policy": "least-loaded"}');
  return policyOf(value as RoutingKeys, DEFAULT_POLICY, (key) => places.of(key));
}

/** JSON is read as what it also is, YAML, by the same tables as files: but what is no JSON is refused first. */
function readJson(text: string, kind: Kind, start: string): { value: unknown; places: YamlPlaces } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw configInvalid('body', `is not valid JSON (${(error as Error).message})`, start);
  }
  return readStrictYaml(JSON.stringify(value), 'body', kind, CONFIG_ERRORS, start);
}
