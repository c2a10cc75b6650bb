import { policyOptions } from '../../policy/policy-options.js';
import { admissionPolicy } from '../../policy/registry.js';
import type { PolicyChoice } from '../../simulator/cluster-config.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { ClusterFlags } from '../flags/cluster-flags.js';
import type { FlagValues } from '../flags/flag.js';
import { refuseGiven } from './flag-conflicts.js';

type AdmissionKey = keyof PolicyBundle['admission'];

/** Where a bundle keeps the options of each policy. */
const BUNDLE_KEYS: Readonly<Record<string, Readonly<Record<string, AdmissionKey>>>> = {
  'token-bucket': { capacity: 'token_bucket_capacity', refill_rate: 'token_bucket_refill_rate' },
  'tier-shed': { threshold: 'tier_shed_threshold', min_priority: 'tier_shed_min_priority' },
  'gaie-legacy': { qd_threshold: 'gaie_qd_threshold', kv_threshold: 'gaie_kv_threshold' },
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
  if (name !== 'token-bucket') {
    const problem = `the admission policy is ${name}`;
    const names = ['token-bucket-capacity', 'token-bucket-refill-rate'] as const;
    refuseGiven(flags, names, problem, 'add --admission-policy token-bucket, or leave it out');
  }

  const options: Record<string, unknown> = {};
  for (const [option, key] of Object.entries(BUNDLE_KEYS[name] ?? {})) {
    if (inBundle[key] !== undefined) options[option] = inBundle[key];
  }
  if (name === 'tier-shed' && inBundle.policy === name) options.min_priority ??= BUNDLE_MIN_PRIORITY;
  if (flags.given('token-bucket-capacity')) options.capacity = flags.values['token-bucket-capacity'];
  if (flags.given('token-bucket-refill-rate')) options.refill_rate = flags.values['token-bucket-refill-rate'];
  const optionsPlace = bundle === null ? '--admission-policy' : bundle.place('admission');
  return { policy: name, options: { ...(policyOptions(policy, options, optionsPlace) as Record<string, unknown>) } };
}
