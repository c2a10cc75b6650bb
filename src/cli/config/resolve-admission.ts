import type { OptionSchema } from '../../policy/options.js';
import { policyOptions } from '../../policy/policy-options.js';
import { admissionPolicy } from '../../policy/registry.js';
import type { PolicyChoice } from '../../simulator/cluster-config.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import { badFileValue, conflictingFlags } from '../errors.js';
import type { ClusterFlags } from '../flags/cluster-flags.js';
import type { FlagValues } from '../flags/flag.js';
import { refuseGiven } from './flag-conflicts.js';

type AdmissionKey = keyof PolicyBundle['admission'];

/** Where a bundle keeps the options of each policy. */
export const ADMISSION_FILE_KEYS: Readonly<Record<string, Readonly<Record<string, AdmissionKey>>>> = {
  'token-bucket': { capacity: 'token_bucket_capacity', refill_rate: 'token_bucket_refill_rate' },
  'tier-shed': { threshold: 'tier_shed_threshold', min_priority: 'tier_shed_min_priority' },
  'gaie-legacy': { qd_threshold: 'gaie_qd_threshold', kv_threshold: 'gaie_kv_threshold' },
};
/** The flags that set options of a policy. */
export const ADMISSION_FLAGS: Readonly<Record<string, Readonly<Record<string, keyof ClusterFlags>>>> = {
  'token-bucket': { capacity: 'token-bucket-capacity', refill_rate: 'token-bucket-refill-rate' },
};
/** A bundle that names tier-shed protects the standard class too, unless it says otherwise. */
const BUNDLE_MIN_PRIORITY = 3;

/** The admission policy with all its options: flags first, then the bundle, then the policy's own defaults. */
export function resolveAdmission(flags: FlagValues<ClusterFlags>, bundle: PolicyBundle | null): PolicyChoice {
  const byFlag = flags.given('admission-policy');
  const inBundle = bundle?.admission ?? {};
  const name = byFlag ? flags.values['admission-policy'] : (inBundle.policy ?? flags.values['admission-policy']);
  const place = byFlag || bundle === null ? '--admission-policy' : bundle.place('admission.policy');
  const policy = admissionPolicy(name, place);
  for (const [owner, byOption] of Object.entries(ADMISSION_FLAGS)) {
    if (owner === name) continue;
    const remedy = `add --admission-policy ${owner}, or leave it out`;
    refuseGiven(flags, Object.values(byOption), `the admission policy is ${name}`, remedy);
  }

  refuseIdleKeys(name, bundle);

  const options: Record<string, unknown> = {};
  for (const [option, key] of Object.entries(ADMISSION_FILE_KEYS[name] ?? {})) {
    const value = inBundle[key];
    if (value === undefined) continue;
    const { problem, accepts } = (policy.options as OptionSchema<Record<string, unknown>>)[option]!;
    const wrong = problem(value);
    if (wrong !== null) throw badFileValue(bundle!.place(`admission.${key}`), wrong, `a ${accepts}`);
    options[option] = value;
  }
  if (name === 'tier-shed' && inBundle.policy === name) options.min_priority ??= BUNDLE_MIN_PRIORITY;
  for (const [option, flag] of Object.entries(ADMISSION_FLAGS[name] ?? {})) {
    if (flags.given(flag)) options[option] = flags.values[flag];
  }
  // What the file says is checked above, what flags say where they are read.
  return { policy: name, options: { ...(policyOptions(policy, options, place) as Record<string, unknown>) } };
}

/** Options in the file belong to the policy that the file names; only a flag that chooses another one may leave them behind. */
function refuseIdleKeys(name: string, bundle: PolicyBundle | null): void {
  if (bundle === null) return;
  for (const [owner, byOption] of Object.entries(ADMISSION_FILE_KEYS)) {
    if (owner === name || owner === bundle.admission.policy) continue;
    for (const key of Object.values(byOption)) {
      if (bundle.admission[key] === undefined) continue;
      const remedy = `write 'policy: ${owner}', or leave it out`;
      throw conflictingFlags(bundle.place(`admission.${key}`), `the admission policy is ${name}`, remedy);
    }
  }
}
