import { describe, expect, it } from 'vitest';
import { admissionContract } from './admission.contract.js';
import { policyOptions } from './policy-options.js';
import { ADMISSION_POLICIES, admissionPolicy, ROUTING_POLICIES, routingPolicy } from './registry.js';
import { routingContract } from './routing.contract.js';
import { SCORERS } from './scoring/registry.js';

/** Options beyond the defaults under which a policy must keep the contract too. */
const MORE_OPTIONS: Record<string, unknown[]> = {
  'least-loaded': [{ tie_break: 'random' }],
  weighted: [
    { tie_break: 'random' },
    { scorers: SCORERS.map(({ name }, i) => ({ name, weight: i + 1 })), tie_break: 'random' },
    { scorers: 'no-hit-lru:1' },
  ],
  lmetric: [{ batch_offset: 1, tie_break: 'random' }],
  unified: [{ overload_factor: 0.5, block_size: 16 }],
  sticky: [{ tie_break: 'random' }],
  chwbl: [
    { capacity: 'ceil', load_factor: 1, virtual_nodes_per_replica: 3, max_user_messages_for_cache: 0 },
    { key: 'first-message' },
    { key: 'prefix-blocks', load_factor: 3 },
  ],
  'session-hash': [{ virtual_nodes_per_replica: 1, tie_break: 'random' }],
  'kubeai-prefix-hash': [{ replication: 2, mean_load_percentage: 300, prefix_char_length: 3 }],
  'sglang-cache-aware': [{ balance_abs_threshold: 1, balance_rel_threshold: 1.1, cache_threshold: 0.01 }],
  'dynamo-cost': [{ temperature: 0.5 }, { temperature: 1e-3, overlap_score_weight: 3 }],
  'sticky-until-saturated': [{ queue_threshold: 2, kv_threshold: 0.5 }],
  'token-bucket': [{ capacity: 500, refill_rate: 100 }],
  'tier-shed': [{ threshold: 6, min_priority: 4 }],
  'gaie-legacy': [{ qd_threshold: 1, kv_threshold: 0.1 }],
};

for (const policy of ROUTING_POLICIES) {
  for (const options of [{}, ...(MORE_OPTIONS[policy.name] ?? [])]) {
    describe(`routing policy ${policy.name} ${JSON.stringify(options)}`, () => routingContract(policy, options));
  }
}

for (const policy of ADMISSION_POLICIES) {
  for (const options of [{}, ...(MORE_OPTIONS[policy.name] ?? [])]) {
    describe(`admission policy ${policy.name} ${JSON.stringify(options)}`, () => admissionContract(policy, options));
  }
}

describe('the registry', () => {
  it('finds policies by name', () => {
    expect(routingPolicy('weighted').name).toBe('weighted');
    expect(admissionPolicy('token-bucket').name).toBe('token-bucket');
  });

  it('suggests the nearest name at the place of the mistake', () => {
    expect(() => routingPolicy('least-loded', 'bundle.yaml:3')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_ROUTING_POLICY',
        place: 'bundle.yaml:3',
        problem: "unknown routing policy 'least-loded'",
        hint: expect.stringContaining("did you mean 'least-loaded'?"),
      }),
    );
    expect(() => admissionPolicy('tokenbucket')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_ADMISSION_POLICY',
        place: '--admission-policy',
        hint: expect.stringContaining("did you mean 'token-bucket'?"),
      }),
    );
  });

  it('gives every policy a name of its own, a description and options that need not be given', () => {
    for (const list of [ROUTING_POLICIES, ADMISSION_POLICIES]) {
      expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
      for (const policy of list) {
        for (const text of [policy.summary, policy.goodFor, policy.notFor]) expect(text).toMatch(/^[A-Z].*\.$/);
        expect(policy.formula).not.toBe('');
        expect(() => policyOptions(policy, {}, 'test')).not.toThrow();
      }
    }
  });

  it('lets every policy with an index have blocks of its own size', () => {
    const withIndex = ROUTING_POLICIES.filter((policy) => policy.blockSize !== undefined);
    expect(withIndex.map(({ name }) => name)).toContain('unified');
    for (const policy of withIndex) {
      const size = (given: object) => policy.blockSize!(policyOptions(policy, given, 'test'));
      expect([size({}), size({ block_size: 32 })]).toEqual([
        ['lmetric', 'unified'].includes(policy.name) ? 512 : 0,
        32,
      ]);
      expect(() => size({ block_size: 1.5 })).toThrow('1.5 is not a whole number: give a whole number of at least 0');
    }
    for (const { name, reads, options, blockSize } of ROUTING_POLICIES) {
      const read = reads(policyOptions({ name, options }, {}, 'test'));
      expect(read.includes('prefixIndex'), name).toBe(blockSize !== undefined);
    }
  });
});
