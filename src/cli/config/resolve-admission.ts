import { admissionOptions, admissionOptionsOf, type PolicyChoice } from '../../policy/bundle/admission-choice.js';
import { policyOptions } from '../../policy/policy-options.js';
import { ADMISSION_POLICIES, admissionPolicy } from '../../policy/registry.js';
import { factsOf } from '../../schema/facts.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { ClusterFlags } from '../flags/cluster-flags.js';
import type { FlagValues } from '../flags/flag.js';
import { refuseGiven } from './flag-conflicts.js';

/** The flag of each option of a policy that has one. */
export function admissionFlags(policy: string): Record<string, keyof ClusterFlags> {
  const named = admissionOptionsOf(policy).flatMap(([option, schema]) => {
    const name = factsOf(schema).flag?.name;
    return name === undefined ? [] : [[option, name as keyof ClusterFlags]];
  });
  return Object.fromEntries(named);
}

/** The admission policy with all its options: flags first, then the bundle, then the policy's own defaults. */
export function resolveAdmission(flags: FlagValues<ClusterFlags>, bundle: PolicyBundle | null): PolicyChoice {
  const byFlag = flags.given('admission-policy');
  const inBundle = bundle?.admission ?? {};
  const name = byFlag ? flags.values['admission-policy'] : (inBundle.policy ?? flags.values['admission-policy']);
  const place = byFlag || bundle === null ? '--admission-policy' : bundle.place('admission.policy');
  const policy = admissionPolicy(name, place);
  for (const { name: owner } of ADMISSION_POLICIES) {
    if (owner === name) continue;
    const hint = `add --admission-policy ${owner}, or leave it out`;
    refuseGiven(flags, Object.values(admissionFlags(owner)), `the admission policy is ${name}`, hint);
  }
  const options = bundle === null ? {} : admissionOptions(inBundle, name, (key) => bundle.place(`admission.${key}`));
  for (const [option, flag] of Object.entries(admissionFlags(name))) {
    if (flags.given(flag)) options[option] = flags.values[flag];
  }
  // Values of the file are already checked, and those of flags where they are read.
  return { policy: name, options: { ...(policyOptions(policy, options, place) as Record<string, unknown>) } };
}
