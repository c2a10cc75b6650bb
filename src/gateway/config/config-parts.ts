import { DEFAULT_ENGINE } from '../../engines/engine.js';
import { InputError } from '../../kernel/errors.js';
import { admissionChoice } from '../../policy/bundle/admission-choice.js';
import { flowControlOf } from '../../policy/bundle/flow-control-schema.js';
import type { PolicyKeys, RoutingKeys } from '../../policy/bundle/policy-schema.js';
import { scorersOption } from '../../policy/bundle/scorers-option.js';
import { type ShadowKeys, shadowChoices } from '../../policy/bundle/shadow-choice.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import type { SchemaCodes } from '../../schema/problems.js';
import type { FoundHardware, PolicyConfig, ReplicaConfig } from './gateway-config.js';

export const configInvalid = (place: string, problem: string, hint: string) =>
  new InputError('GATEWAY_CONFIG_INVALID', place, problem, hint);

/** How errors in twinyard.yaml and in bodies of the admin API are named. */
export const CONFIG_CODES: SchemaCodes = {
  invalid: 'GATEWAY_CONFIG_INVALID',
  unknownKey: 'GATEWAY_CONFIG_UNKNOWN_KEY',
};

export interface ReplicaKeys {
  url: string;
  id?: string;
  engine?: string;
  model?: string;
  hardware?: string;
  tp?: number;
}

/** A replica from its keys. */
export function replicaOf(
  { url, id, engine = DEFAULT_ENGINE, model, ...keys }: ReplicaKeys,
  place: string,
): ReplicaConfig {
  if (!URL.canParse(url)) throw configInvalid(place, `'${url}' is not a URL`, 'give one such as http://127.0.0.1:9001');
  const { hash, host, origin, password, pathname, protocol, search, username } = new URL(url);
  if (username !== '' || password !== '') {
    throw configInvalid(place, 'the URL holds a user or a password', 'give scheme, host and port alone');
  }
  if (!['http:', 'https:'].includes(protocol) || pathname !== '/' || search !== '' || hash !== '') {
    throw configInvalid(place, `'${url}' is more or less than an address`, 'give scheme, host and port alone');
  }
  const models = model === undefined ? null : [model];
  return { id: id ?? host, url: origin, engine, models, ...hardwareOf(keys) };
}

/** What replicas run on, as far as keys name it. */
export function hardwareOf({ hardware, tp }: FoundHardware): FoundHardware {
  return { ...(hardware === undefined ? {} : { hardware }), ...(tp === undefined ? {} : { tp }) };
}

type PlaceOf = (key: string) => string;
type Warn = (line: string) => void;

/**
 * A policy from its keys, with defaults for the others.
 * @param placeOf the place of a key
 * @param warn called for keys that have no effect
 */
export function policyOf(keys: PolicyKeys, base: PolicyConfig, placeOf: PlaceOf, warn: Warn = () => {}): PolicyConfig {
  const { admission, flow_control } = keys;
  const sloTargets = admission?.slo_targets;
  const policy: PolicyConfig = {
    ...routingOf(keys.routing ?? {}, base, (key) => placeOf(`routing.${key}`), warn),
    admission:
      admission === undefined ? base.admission : admissionChoice(admission, (key) => placeOf(`admission.${key}`)),
    sloPriorities: admission?.slo_priorities ?? base.sloPriorities,
    tenantBudgets: keys.tenant_budgets ?? base.tenantBudgets,
    seatsPerReplica: keys.max_num_seqs ?? base.seatsPerReplica,
    flowControl: flow_control === undefined ? base.flowControl : flowControlOf(flow_control, sloTargets ?? {}),
    shadows: keys.shadow === undefined ? base.shadows : shadowChoices(keys.shadow as ShadowKeys[], placeOf, warn),
  };
  if (sloTargets !== undefined && policy.flowControl?.dispatchOrder !== 'slo-deadline') {
    warn(`${placeOf('admission.slo_targets')}: has no effect without flow_control and its order slo-deadline`);
  }
  for (const key of ['scheduler', 'preemption'] as const) {
    if (keys[key] !== undefined) warn(`${placeOf(key)}: has no effect live: it is the engine's own business`);
  }
  if (keys.priority !== undefined) warn(`${placeOf('priority')}: has no effect; priorities come from SLO classes`);
  return policy;
}

/** How a replica is chosen, from its keys; the rest of the policy stays. */
export function routingOf(keys: RoutingKeys, base: PolicyConfig, placeOf: PlaceOf, warn: Warn): PolicyConfig {
  const name = keys.policy ?? base.name;
  const policy = routingPolicy(name, placeOf('policy'));
  // Options belong to one policy.
  const options = { ...(keys.options ?? (name === base.name ? base.options : {})) };
  if (keys.scorers !== undefined) {
    const hint = "write 'policy: weighted'";
    options.scorers = scorersOption(policy, keys.scorers, placeOf('scorers'), hint, warn);
  }
  policyOptions(policy, options, placeOf('options'));
  return {
    ...base,
    name,
    options,
    blockSize: keys.block_size ?? base.blockSize,
    cacheBlocks: keys.cache_blocks ?? base.cacheBlocks,
  };
}
