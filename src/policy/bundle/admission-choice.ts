import { factsOf, type Schema } from '../../schema/facts.js';
import { badFileValue, idleFileKey } from '../errors.js';
import { policyOptions } from '../policy-options.js';
import { ADMISSION_POLICIES, admissionPolicy } from '../registry.js';
import type { AdmissionKeys } from './policy-schema.js';

/** A policy by name with all its options. */
export interface PolicyChoice {
  policy: string;
  options: Record<string, unknown>;
}

/** The options of an admission policy with the given values. */
export function admissionOptionsOf(name: string): [option: string, schema: Schema][] {
  return Object.entries(admissionPolicy(name).options as Record<string, Schema>);
}

/**
 * The options that a file sets for an admission policy, checked, without defaults.
 * @param name the policy in force: the file's own, unless a flag chose another
 * @param placeOf where a key of the section stands
 */
export function admissionOptions(
  keys: AdmissionKeys,
  name: string,
  placeOf: (key: string) => string,
): Record<string, unknown> {
  refuseIdleKeys(keys, name, placeOf);
  admissionPolicy(name, placeOf('policy'));
  const isOwn = (keys.policy ?? 'always-admit') === name;
  const options: Record<string, unknown> = isOwn ? { ...keys.options } : {};
  for (const [option, schema] of admissionOptionsOf(name)) {
    const { fileDefault, fileKey } = factsOf(schema);
    const value = fileKey === undefined ? undefined : keys[fileKey];
    if (value !== undefined && Object.hasOwn(options, option)) {
      throw badFileValue(placeOf(fileKey!), `is also given as options.${option}`, 'only one of the two');
    }
    if (value !== undefined) options[option] = value;
    else if (isOwn && fileDefault !== undefined) options[option] ??= fileDefault;
  }
  return options;
}

/** The choice of a file alone. */
export function admissionChoice(keys: AdmissionKeys, placeOf: (key: string) => string): PolicyChoice {
  const name = keys.policy ?? 'always-admit';
  const policy = admissionPolicy(name, placeOf('policy'));
  const options = policyOptions(policy, admissionOptions(keys, name, placeOf), placeOf('policy'));
  return { policy: name, options: options as Record<string, unknown> };
}

/**
 * Options in a file belong to the policy that the file names; only a flag that chooses another may leave them unused.
 */
function refuseIdleKeys(keys: AdmissionKeys, name: string, placeOf: (key: string) => string): void {
  for (const { name: owner } of ADMISSION_POLICIES) {
    if (owner === name || owner === keys.policy) continue;
    for (const [, schema] of admissionOptionsOf(owner)) {
      const { fileKey } = factsOf(schema);
      if (fileKey === undefined || keys[fileKey] === undefined) continue;
      const hint = `write 'policy: ${owner}', or leave it out`;
      throw idleFileKey(placeOf(fileKey), `the admission policy is ${name}`, hint);
    }
  }
}
