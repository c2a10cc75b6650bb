import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from './gateway-config.js';
import { policyKeys } from './policy-keys.js';
import { readPolicyBody } from './read-admin-body.js';

describe('policyKeys', () => {
  it.each<object>([
    {},
    { routing: { policy: 'lmetric', block_size: 32, cache_blocks: 7 } },
    { routing: { policy: 'weighted', scorers: [{ name: 'prefix-affinity', weight: 3 }] } },
    { admission: { policy: 'token-bucket', options: { capacity: 5, refill_rate: 2 } } },
    { admission: { policy: 'tier-shed', slo_priorities: { gold: 9 } }, tenant_budgets: { a: 0.25 }, max_num_seqs: 8 },
    { admission: { policy: 'gaie-legacy', options: { qd_threshold: 3 } } },
    { flow_control: { max_concurrency: 3, request_ttl_ms: 1500, queue_shedding: true, dispatch_tick_ms: 0.5 } },
    { admission: { slo_targets: { gold: 2000 } }, flow_control: { dispatch_order: 'slo-deadline' } },
  ])('writes %j so that reading it gives the same policy', (keys) => {
    const policy = readPolicyBody(keys);
    const again = policyKeys(policy);
    expect(readPolicyBody(again)).toEqual(policy);
    expect(again).toMatchObject(
      'routing' in keys && 'scorers' in (keys.routing as object) ? { routing: { policy: 'weighted' } } : keys,
    );
  });

  it('writes the defaults', () => {
    expect(readPolicyBody(policyKeys(DEFAULT_POLICY))).toEqual(DEFAULT_POLICY);
  });
});
