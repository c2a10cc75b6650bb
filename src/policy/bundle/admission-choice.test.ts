import { describe, expect, it } from 'vitest';
import { ADMISSION_POLICIES } from '../registry.js';
import { admissionChoice, admissionOptions } from './admission-choice.js';
import { ADMISSION_SCHEMA } from './policy-schema.js';

const placeOf = (key: string) => `p.yaml (admission.${key})`;

describe('admissionChoice', () => {
  it('admits every request by default', () => {
    expect(admissionChoice({}, placeOf)).toEqual({ policy: 'always-admit', options: {} });
  });

  it('fills in missing options', () => {
    expect(admissionChoice({ policy: 'token-bucket', token_bucket_capacity: 5 }, placeOf)).toEqual({
      policy: 'token-bucket',
      options: { capacity: 5, refill_rate: 1000 },
    });
  });

  it('protects the standard class with tier-shed by default', () => {
    expect(admissionChoice({ policy: 'tier-shed' }, placeOf).options).toEqual({ threshold: 0, min_priority: 3 });
    const keys = { policy: 'tier-shed', tier_shed_min_priority: -1 };
    expect(admissionChoice(keys, placeOf).options).toEqual({ threshold: 0, min_priority: -1 });
  });

  it.each([
    [{ policy: 'tire-shed' }, 'UNKNOWN_ADMISSION_POLICY', 'policy'],
    [{ token_bucket_capacity: 5 }, 'CONFLICTING_FLAGS', 'token_bucket_capacity'],
    [{ policy: 'tier-shed', gaie_qd_threshold: 5 }, 'CONFLICTING_FLAGS', 'gaie_qd_threshold'],
  ])('refuses %j', (keys, code, key) => {
    expect(() => admissionChoice(keys, placeOf)).toThrowError(expect.objectContaining({ code, place: placeOf(key) }));
  });
});

describe('admissionOptions', () => {
  it('drops the options of a file when a flag chooses another policy', () => {
    const keys = { policy: 'token-bucket', token_bucket_capacity: 5 };
    expect(admissionOptions(keys, 'tier-shed', placeOf)).toEqual({});
  });
});

describe('options under their own name', () => {
  it('are accepted for every option of every policy', () => {
    for (const { name, options } of ADMISSION_POLICIES) {
      const given = Object.fromEntries(Object.keys(options as object).map((option) => [option, 0.5]));
      expect(admissionChoice({ policy: name, options: given }, placeOf), name).toEqual({
        policy: name,
        options: given,
      });
    }
  });

  it('are not given twice', () => {
    const keys = { policy: 'token-bucket', token_bucket_capacity: 5, options: { capacity: 6 } };
    expect(() => admissionChoice(keys, placeOf)).toThrowError(
      expect.objectContaining({ problem: 'is also given as options.capacity' }),
    );
  });

  it('appear in the schema where they have their own key', () => {
    expect(Object.keys(ADMISSION_SCHEMA.entries)).toEqual([
      'policy',
      'options',
      'token_bucket_capacity',
      'token_bucket_refill_rate',
      'tier_shed_threshold',
      'tier_shed_min_priority',
      'gaie_qd_threshold',
      'gaie_kv_threshold',
      'slo_priorities',
      'slo_targets',
    ]);
  });
});
