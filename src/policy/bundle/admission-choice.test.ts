import { describe, expect, it } from 'vitest';
import { ADMISSION_POLICIES } from '../registry.js';
import { ADMISSION_FILE_KEYS, admissionChoice, admissionOptions } from './admission-choice.js';
import { BUNDLE_KIND } from './bundle-keys.js';

const placeOf = (key: string) => `p.yaml (admission.${key})`;

describe('admissionChoice', () => {
  it('lets everybody in where nothing is said', () => {
    expect(admissionChoice({}, placeOf)).toEqual({ policy: 'always-admit', options: {} });
  });

  it('fills in the options that are not said', () => {
    expect(admissionChoice({ policy: 'token-bucket', token_bucket_capacity: 5 }, placeOf)).toEqual({
      policy: 'token-bucket',
      options: { capacity: 5, refill_rate: 1000 },
    });
  });

  it('protects the standard class with tier-shed, unless told otherwise', () => {
    expect(admissionChoice({ policy: 'tier-shed' }, placeOf).options).toEqual({ threshold: 0, min_priority: 3 });
    const keys = { policy: 'tier-shed', tier_shed_min_priority: -1 };
    expect(admissionChoice(keys, placeOf).options).toEqual({ threshold: 0, min_priority: -1 });
  });

  it.each([
    [{ policy: 'tire-shed' }, 'UNKNOWN_ADMISSION_POLICY', 'policy'],
    [{ policy: 'token-bucket', token_bucket_capacity: 0 }, 'BAD_VALUE', 'token_bucket_capacity'],
    [{ token_bucket_capacity: 5 }, 'CONFLICTING_FLAGS', 'token_bucket_capacity'],
    [{ policy: 'tier-shed', gaie_qd_threshold: 5 }, 'CONFLICTING_FLAGS', 'gaie_qd_threshold'],
  ])('refuses %j', (keys, code, key) => {
    expect(() => admissionChoice(keys, placeOf)).toThrowError(expect.objectContaining({ code, place: placeOf(key) }));
  });
});

describe('admissionOptions', () => {
  it('leaves the options of a file behind when somebody who outranks it has chosen another policy', () => {
    const keys = { policy: 'token-bucket', token_bucket_capacity: 5 };
    expect(admissionOptions(keys, 'tier-shed', placeOf)).toEqual({});
  });
});

describe('keys of the options', () => {
  it('are there for every option of every policy, and in the table', () => {
    const { kind } = BUNDLE_KIND.keys.admission!;
    const known = Object.keys((kind as typeof BUNDLE_KIND).keys);
    for (const { name, options } of ADMISSION_POLICIES) {
      expect(Object.keys(ADMISSION_FILE_KEYS[name] ?? {}), name).toEqual(Object.keys(options as object));
      for (const key of Object.values(ADMISSION_FILE_KEYS[name] ?? {})) expect(known).toContain(key);
    }
  });
});
