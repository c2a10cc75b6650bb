import { createHash } from 'node:crypto';
import { canonicalJson } from '../../kernel/canonical-json.js';
import type { HostedPolicies } from '../../policy/host/hosted-policies.js';
import type { PolicyConfig } from '../config/gateway-config.js';

/** Names a policy with everything that decides: the same for policies that decide alike. */
export function policyHash(config: PolicyConfig, policies: HostedPolicies): string {
  const { flowControl, seatsPerReplica, sloPriorities, tenantBudgets } = config;
  const { admission, admissionKey, routingKey } = policies;
  // What has no effect is left out.
  const text = canonicalJson({
    routingKey,
    ...(admission.admitsAll ? {} : { admissionKey }),
    ...(Object.keys(sloPriorities).length === 0 ? {} : { sloPriorities }),
    ...(Object.keys(tenantBudgets).length === 0 ? {} : { seatsPerReplica, tenantBudgets }),
    ...(flowControl === null ? {} : { flowControl }),
  });
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
