import { badFileValue, idleFileKey } from '../errors.js';
import type { OptionSchema } from '../options.js';
import { policyOptions } from '../policy-options.js';
import { admissionPolicy } from '../registry.js';
import type { AdmissionKeys } from './bundle-keys.js';

/** A policy by name with all its options. */
export interface PolicyChoice {
  policy: string;
  options: Record<string, unknown>;
}

/** Where a file keeps the options of each policy. */
export const ADMISSION_FILE_KEYS: Readonly<Record<string, Readonly<Record<string, keyof AdmissionKeys>>>> = {
  'token-bucket': { capacity: 'token_bucket_capacity', refill_rate: 'token_bucket_refill_rate' },
  'tier-shed': { threshold: 'tier_shed_threshold', min_priority: 'tier_shed_min_priority' },
  'gaie-legacy': { qd_threshold: 'gaie_qd_threshold', kv_threshold: 'gaie_kv_threshold' },
};
/** A file that names tier-shed protects the standard class too, unless it says otherwise. */
const FILE_MIN_PRIORITY = 3;

/**
 * The options that a file gives an admission policy, checked; only those that it says.
 * @param name the policy that is chosen: the file's own, unless somebody who outranks it has chosen another
 * @param placeOf where a key of the section stands
 */
export function admissionOptions(
  keys: AdmissionKeys,
  name: string,
  placeOf: (key: string) => string,
): Record<string, unknown> {
  refuseIdleKeys(keys, name, placeOf);
  const schema = admissionPolicy(name, placeOf('policy')).options as OptionSchema<Record<string, unknown>>;
  const options: Record<string, unknown> = {};
  for (const [option, key] of Object.entries(ADMISSION_FILE_KEYS[name] ?? {})) {
    const value = keys[key];
    if (value === undefined) continue;
    const { problem, accepts } = schema[option]!;
    const wrong = problem(value);
    if (wrong !== null) throw badFileValue(placeOf(key), wrong, `a ${accepts}`);
    options[option] = value;
  }
  if (name === 'tier-shed' && keys.policy === name) options.min_priority ??= FILE_MIN_PRIORITY;
  return options;
}

/** What a file alone asks for. */
export function admissionChoice(keys: AdmissionKeys, placeOf: (key: string) => string): PolicyChoice {
  const name = keys.policy ?? 'always-admit';
  const policy = admissionPolicy(name, placeOf('policy'));
  const options = policyOptions(policy, admissionOptions(keys, name, placeOf), placeOf('policy'));
  return { policy: name, options: options as Record<string, unknown> };
}

/** Options in a file belong to the policy that the file names; only who outranks it may leave them behind. */
function refuseIdleKeys(keys: AdmissionKeys, name: string, placeOf: (key: string) => string): void {
  for (const [owner, byOption] of Object.entries(ADMISSION_FILE_KEYS)) {
    if (owner === name || owner === keys.policy) continue;
    for (const key of Object.values(byOption)) {
      if (keys[key] === undefined) continue;
      const hint = `write 'policy: ${owner}', or leave it out`;
      throw idleFileKey(placeOf(key), `the admission policy is ${name}`, hint);
    }
  }
}
