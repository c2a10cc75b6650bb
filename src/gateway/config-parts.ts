import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/nearest-name.js';
import type { YamlErrors } from '../kernel/yaml/read-schema.js';
import { policyOptions } from '../policy/policy-options.js';
import { routingPolicy } from '../policy/registry.js';
import type { PolicyConfig, ReplicaConfig } from './gateway-config.js';

export const configInvalid = (place: string, problem: string, remedy: string) =>
  new InputError('GATEWAY_CONFIG_INVALID', place, problem, remedy);

/** How mistakes in twinyard.yaml and in what the admin API is sent are named. */
export const CONFIG_ERRORS: YamlErrors = {
  invalid: configInvalid,
  unknownKey: (place, key, known) =>
    new InputError('GATEWAY_CONFIG_UNKNOWN_KEY', place, `unknown key '${key}'`, knownNames(key, known)),
};

export interface ReplicaKeys {
  url: string;
  id?: string;
  engine?: string;
  model?: string;
}

/** A replica from its keys. */
export function replicaOf({ url, id, engine = 'vllm', model }: ReplicaKeys, place: string): ReplicaConfig {
  if (!URL.canParse(url)) throw configInvalid(place, `'${url}' is not a URL`, 'give one such as http://127.0.0.1:9001');
  const { hash, host, origin, pathname, protocol, search } = new URL(url);
  if (!['http:', 'https:'].includes(protocol) || pathname !== '/' || search !== '' || hash !== '') {
    throw configInvalid(place, `'${url}' is more or less than an address`, 'give scheme, host and port alone');
  }
  return { id: id ?? host, url: origin, engine, models: model === undefined ? null : [model] };
}

export interface RoutingKeys {
  policy?: string;
  options?: Record<string, unknown>;
  block_size?: number;
  cache_blocks?: number;
}

/**
 * A policy from its keys over what holds without them.
 * @param placeOf where a key stands
 */
export function policyOf(keys: RoutingKeys, base: PolicyConfig, placeOf: (key: string) => string): PolicyConfig {
  const policy = {
    name: keys.policy ?? base.name,
    // Options belong to one policy.
    options: keys.options ?? (keys.policy === undefined || keys.policy === base.name ? base.options : {}),
    blockSize: keys.block_size ?? base.blockSize,
    cacheBlocks: keys.cache_blocks ?? base.cacheBlocks,
  };
  policyOptions(routingPolicy(policy.name, placeOf('policy')), policy.options, placeOf('options'));
  return policy;
}
