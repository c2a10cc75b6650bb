import { describe, expect, it } from 'vitest';
import { admissionContract } from './admission.contract.js';
import { flipContract } from './flip.contract.js';
import { policyOptions } from './policy-options.js';
import { optionVariants } from './policy-variants.fixture.js';
import { ADMISSION_POLICIES, admissionPolicy, ROUTING_POLICIES, routingPolicy } from './registry.js';
import { routingContract } from './routing.contract.js';

for (const policy of ROUTING_POLICIES) {
  for (const options of optionVariants(policy)) {
    describe(`routing policy ${policy.name} ${JSON.stringify(options)}`, () => {
      routingContract(policy, options);
      flipContract(policy, options);
    });
  }
}

for (const policy of ADMISSION_POLICIES) {
  for (const options of optionVariants(policy)) {
    describe(`admission policy ${policy.name} ${JSON.stringify(options)}`, () => admissionContract(policy, options));
  }
}

describe('the registry', () => {
  it('finds policies by name', () => {
    expect(routingPolicy('weighted').name).toBe('weighted');
    expect(admissionPolicy('token-bucket').name).toBe('token-bucket');
  });

  it('suggests the nearest name and reports the place', () => {
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

  it('gives every policy a unique name, a description and defaults for all options', () => {
    for (const list of [ROUTING_POLICIES, ADMISSION_POLICIES]) {
      expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
      for (const policy of list) {
        for (const text of [policy.summary, policy.goodFor, policy.notFor]) expect(text).toMatch(/^[A-Z].*\.$/);
        expect(policy.formula).not.toBe('');
        expect(() => policyOptions(policy, {}, 'test')).not.toThrow();
      }
    }
  });

  it('lets every policy with an index set its block size', () => {
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
