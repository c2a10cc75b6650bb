import { flowControlKeys } from '../../policy/bundle/flow-control-schema.js';
import type { AdmissionKeys, PolicyKeys } from '../../policy/bundle/policy-schema.js';
import { shadowKeys } from '../../policy/bundle/shadow-choice.js';
import type { PolicyConfig } from './gateway-config.js';

/** A policy as files and the API write it: read again, it is the same policy. */
export function policyKeys(policy: PolicyConfig): PolicyKeys {
  const { flowControl, seatsPerReplica, shadows, tenantBudgets } = policy;
  return {
    routing: {
      policy: policy.name,
      options: { ...policy.options },
      block_size: policy.blockSize,
      cache_blocks: policy.cacheBlocks,
    },
    admission: admissionKeys(policy),
    ...(flowControl === null ? {} : { flow_control: flowControlKeys(flowControl) }),
    tenant_budgets: { ...tenantBudgets },
    max_num_seqs: seatsPerReplica,
    ...(shadows.length === 0 ? {} : { shadow: shadows.map(shadowKeys) }),
  };
}

function admissionKeys({ admission, flowControl, sloPriorities }: PolicyConfig): AdmissionKeys {
  const { options, policy } = admission;
  return {
    policy,
    options: { ...options },
    slo_priorities: { ...sloPriorities },
    ...(flowControl === null ? {} : { slo_targets: { ...flowControl.sloTargetsUs } }),
  };
}
