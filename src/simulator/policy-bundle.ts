import { readFileSync } from 'node:fs';
import { readProblem } from '../files/file-problem.js';
import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/nearest-name.js';
import type { YamlErrors } from '../kernel/yaml/read-schema.js';
import { BUNDLE_KIND, type BundleKeys } from '../policy/bundle/bundle-keys.js';

/** The policies of a cluster as a file, keys as written there. What is absent was not said. */
export interface PolicyBundle extends BundleKeys {
  admission: NonNullable<BundleKeys['admission']>;
  routing: NonNullable<BundleKeys['routing']>;
  preemption: NonNullable<BundleKeys['preemption']>;
  tenant_budgets: NonNullable<BundleKeys['tenant_budgets']>;
  /** What was read but has no effect: lines for people. */
  warnings: string[];
  /** Where a key stands, for what is found wrong later: `policies.yaml:3:11 (admission.policy)`. */
  place(path: string): string;
}

/** Parts of the format that describe fleets that change while they run. */
const UNSUPPORTED = ['node_pools', 'autoscaler', 'instance_lifecycle'];

const ERRORS: YamlErrors = {
  invalid: (place, problem, hint) => new InputError('BUNDLE_BAD_VALUE', place, problem, hint),
  unknownKey: (place, key, known) =>
    UNSUPPORTED.includes(key)
      ? new InputError(
          'BUNDLE_UNSUPPORTED',
          place,
          `'${key}' is not supported`,
          'remove it: the fleet has a fixed size',
        )
      : new InputError('BUNDLE_UNKNOWN_KEY', place, `unknown key '${key}'`, knownNames(key, known)),
};
const SYNTAX_ERRORS: YamlErrors = {
  ...ERRORS,
  invalid: (place, problem, hint) => new InputError('BUNDLE_MALFORMED', place, problem, hint),
};

/** What only a live gateway goes by, and what stands for it here. */
const WITHOUT_EFFECT: readonly [path: string, of: (keys: BundleKeys) => unknown, why: string][] = [
  ['priority', ({ priority }) => priority, "the 'priority' section has no effect; priorities come from SLO classes"],
  [
    'routing.block_size',
    ({ routing }) => routing?.block_size,
    'has no effect in a simulation: blocks are those of the replicas (--block-size-in-tokens)',
  ],
  ['routing.cache_blocks', ({ routing }) => routing?.cache_blocks, 'has no effect in a simulation'],
  ['max_num_seqs', (keys) => keys.max_num_seqs, 'has no effect in a simulation: give --max-num-seqs'],
];

/** Reads a file of policies. Every key must be known: a misspelt one would otherwise be ignored in silence. */
export async function readPolicyBundle(file: string): Promise<PolicyBundle> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new InputError('BUNDLE_UNREADABLE', file, readProblem(error), 'give a YAML file that exists and may be read');
  }
  return parsePolicyBundle(text, file);
}

export async function parsePolicyBundle(text: string, file: string): Promise<PolicyBundle> {
  const [{ parseStrictYaml }, { readSchema }] = await Promise.all([
    import('../kernel/yaml/strict-yaml.js'),
    import('../kernel/yaml/read-schema.js'),
  ]);
  const { document, places } = parseStrictYaml(text, file, SYNTAX_ERRORS);
  if (document.contents === null) {
    throw new InputError('BUNDLE_EMPTY', file, 'holds no keys', `known: ${Object.keys(BUNDLE_KIND.keys).join(', ')}`);
  }
  const keys = readSchema(document.contents, BUNDLE_KIND, places, ERRORS) as BundleKeys;
  const place = (path: string) => places.of(path);
  return {
    ...keys,
    admission: keys.admission ?? {},
    routing: keys.routing ?? {},
    preemption: keys.preemption ?? {},
    tenant_budgets: keys.tenant_budgets ?? {},
    warnings: WITHOUT_EFFECT.filter(([, of]) => of(keys) !== undefined).map(
      ([path, , why]) => `${place(path)}: ${why}`,
    ),
    place,
  };
}
