import { ADMISSION_FILE_KEYS } from '../../policy/bundle/admission-choice.js';
import type { AdmissionKeys, BundleKeys } from '../../policy/bundle/bundle-keys.js';
import { flowControlKeys } from '../../policy/bundle/flow-control-keys.js';
import type { PolicyConfig } from './gateway-config.js';

/** A policy as files and `PUT /api/endpoints/{name}/policy` say it: sent back, it is the same policy. */
export function policyKeys(policy: PolicyConfig): BundleKeys {
  const { flowControl, seatsPerReplica, tenantBudgets } = policy;
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
  };
}

function admissionKeys({ admission, flowControl, sloPriorities }: PolicyConfig): AdmissionKeys {
  const { options, policy } = admission;
  const named = Object.entries(ADMISSION_FILE_KEYS[policy] ?? {}).map(([option, key]) => [key, options[option]]);
  return {
    policy,
    ...Object.fromEntries(named),
    slo_priorities: { ...sloPriorities },
    ...(flowControl === null ? {} : { slo_targets: { ...flowControl.sloTargetsUs } }),
  };
}
