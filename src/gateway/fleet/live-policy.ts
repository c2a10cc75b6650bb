import { createHash } from 'node:crypto';
import { canonicalJson } from '../../kernel/canonical-json.js';
import { randomStream } from '../../kernel/random-stream.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import type { PolicyConfig } from '../config/gateway-config.js';

/** A configured policy, checked and ready to be created. */
export function livePolicy(config: PolicyConfig, seed: number) {
  const policy = routingPolicy(config.name, 'policy');
  // Live, equals are drawn: the lowest index would pile idle traffic on the first replica.
  const spread = 'tie_break' in policy.options ? { tie_break: 'random' } : {};
  const options = policyOptions(policy, { ...spread, ...config.options }, 'policy');
  const blockSize = policy.blockSize?.(options) || config.blockSize;
  const routing = { name: config.name, options, blockSize, cacheBlocks: config.cacheBlocks };
  return {
    policy,
    options,
    /** Names the policy with all that decides: the same for policies that decide alike. */
    hash: createHash('sha256')
      .update(canonicalJson({ ...routing, ...entryOf(config) }))
      .digest('hex')
      .slice(0, 12),
    /** The same for policies that choose replicas alike. */
    routing: canonicalJson(routing),
    random: randomStream(seed, `router/${config.name}`),
    blockSize,
    readsBody: policy.reads(options).includes('body'),
  };
}

/** What decides besides routing; what has no effect is left out. */
function entryOf({ admission, flowControl, seatsPerReplica, sloPriorities, tenantBudgets }: PolicyConfig): object {
  return {
    ...(admission.policy === 'always-admit' ? {} : { admission }),
    ...(Object.keys(sloPriorities).length === 0 ? {} : { sloPriorities }),
    ...(Object.keys(tenantBudgets).length === 0 ? {} : { seatsPerReplica, tenantBudgets }),
    ...(flowControl === null ? {} : { flowControl }),
  };
}
