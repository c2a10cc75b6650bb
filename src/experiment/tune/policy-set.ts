import {
  FLOW_CONTROL_SCHEMA,
  type FlowControlKeys,
  flowControlKeys,
  flowControlOf,
} from '../../policy/bundle/flow-control-schema.js';
import type { PolicyKeys } from '../../policy/bundle/policy-schema.js';
import { admissionPolicy, routingPolicy } from '../../policy/registry.js';
import { parseScorers } from '../../policy/scoring/parse-scorers.js';
import type { ClusterConfig, PolicyChoice } from '../../simulator/cluster-config.js';

/** The policies of a fleet as far as `tune` varies them. Options hold only what differs from the default. */
export interface PolicySet {
  routing: PolicyChoice;
  admission: PolicyChoice;
  /** The section of a policy file; null: no queue in front of the fleet. */
  flowControl: FlowControlKeys | null;
}

/** The policies that a configuration has. */
export function policiesOf({ routing, admission, flowControl }: ClusterConfig): PolicySet {
  return {
    routing: { ...routing, options: changed(routing.options, routingPolicy(routing.policy).options) },
    admission: { ...admission, options: changed(admission.options, admissionPolicy(admission.policy).options) },
    flowControl:
      flowControl === null
        ? null
        : (changed({ ...flowControlKeys(flowControl) }, FLOW_CONTROL_SCHEMA.entries) as FlowControlKeys),
  };
}

/** The configuration with these policies in place of its own. */
export function withPolicies(config: ClusterConfig, { routing, admission, flowControl }: PolicySet): ClusterConfig {
  const targets = config.flowControl?.sloTargetsUs ?? {};
  return {
    ...config,
    routing,
    admission,
    flowControl: flowControl === null ? null : flowControlOf(flowControl, targets),
  };
}

/** The policies as the keys of a policy file, which `run` and `serve` read. */
export function policyFileKeys({ routing, admission, flowControl }: PolicySet): PolicyKeys {
  const { scorers, ...options } = routing.options;
  return {
    routing: {
      policy: routing.policy,
      ...(scorers === undefined ? {} : { scorers: parseScorers(scorers as string, 'scorers') }),
      ...(Object.keys(options).length === 0 ? {} : { options }),
    },
    admission: {
      policy: admission.policy,
      ...(Object.keys(admission.options).length === 0 ? {} : { options: admission.options }),
    },
    ...(flowControl === null ? {} : { flow_control: flowControl }),
  };
}

/** `lmetric`, `chwbl load_factor=1.5`, `unified; tier-shed threshold=64; queue max_concurrency=32`. */
export function policySetName({ routing, admission, flowControl }: PolicySet): string {
  const parts = [withOptions(routing.policy, routing.options)];
  if (admission.policy !== 'always-admit') parts.push(withOptions(admission.policy, admission.options));
  if (flowControl !== null) parts.push(withOptions('queue', flowControl));
  return parts.join('; ');
}

/** Options in alphabetical order: equal sets have equal names. */
function withOptions(name: string, options: object): string {
  const parts = Object.entries(options).map(([option, value]) =>
    option === 'scorers' ? String(value) : `${option}=${value}`,
  );
  return [name, ...parts.sort()].join(' ');
}

function changed(options: Record<string, unknown>, schemas: unknown): Record<string, unknown> {
  const defaults = schemas as Record<string, { default?: unknown }>;
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => defaults[name]?.default !== value));
}
