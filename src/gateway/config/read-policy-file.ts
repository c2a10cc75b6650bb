import { POLICY_SCHEMA, type PolicyKeys } from '../../policy/bundle/policy-schema.js';
import { readYaml } from '../../schema/read-yaml.js';
import { CONFIG_CODES, policyOf } from './config-parts.js';
import { DEFAULT_POLICY, type PolicyConfig } from './gateway-config.js';

/**
 * Reads a policy file, the same that simulations read. The first thing wrong is an InputError with its line and column.
 * @param warn receives a line for each key that has no effect live
 */
export function readPolicyFile(text: string, path: string, warn: (line: string) => void): PolicyConfig {
  const start = "start it with 'routing:' and a policy below";
  const { given, places } = readYaml(text, path, POLICY_SCHEMA, CONFIG_CODES, start);
  return policyOf(given as PolicyKeys, DEFAULT_POLICY, (key) => places.of(key), warn);
}
