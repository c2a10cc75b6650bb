import { ADMISSION_FILE_KEYS, admissionOptions, type PolicyChoice } from '../../policy/bundle/admission-choice.js';
import { policyOptions } from '../../policy/policy-options.js';
import { admissionPolicy } from '../../policy/registry.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { ClusterFlags } from '../flags/cluster-flags.js';
import type { FlagValues } from '../flags/flag.js';
import { refuseGiven } from './flag-conflicts.js';

export { ADMISSION_FILE_KEYS };

/** The flags that set options of a policy. */
export const ADMISSION_FLAGS: Readonly<Record<string, Readonly<Record<string, keyof ClusterFlags>>>> = {
  'token-bucket': { capacity: 'token-bucket-capacity', refill_rate: 'token-bucket-refill-rate' },
};

/** The admission policy with all its options: flags first, then the bundle, then the policy's own defaults. */
export function resolveAdmission(flags: FlagValues<ClusterFlags>, bundle: PolicyBundle | null): PolicyChoice {
  const byFlag = flags.given('admission-policy');
  const inBundle = bundle?.admission ?? {};
  const name = byFlag ? flags.values['admission-policy'] : (inBundle.policy ?? flags.values['admission-policy']);
  const place = byFlag || bundle === null ? '--admission-policy' : bundle.place('admission.policy');
  const policy = admissionPolicy(name, place);
  for (const [owner, byOption] of Object.entries(ADMISSION_FLAGS)) {
    if (owner === name) continue;
    const hint = `add --admission-policy ${owner}, or leave it out`;
    refuseGiven(flags, Object.values(byOption), `the admission policy is ${name}`, hint);
  }
  const options = bundle === null ? {} : admissionOptions(inBundle, name, (key) => bundle.place(`admission.${key}`));
  for (const [option, flag] of Object.entries(ADMISSION_FLAGS[name] ?? {})) {
    if (flags.given(flag)) options[option] = flags.values[flag];
  }
  // What the file says has been checked, and what flags say where they are read.
  return { policy: name, options: { ...(policyOptions(policy, options, place) as Record<string, unknown>) } };
}
