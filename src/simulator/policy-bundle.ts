import { readFileSync } from 'node:fs';
import { readProblem } from '../files/file-problem.js';
import { decodeText } from '../files/text-encoding.js';
import { InputError } from '../kernel/errors.js';
import { POLICY_SCHEMA, type PolicyKeys } from '../policy/bundle/policy-schema.js';
import type { SchemaCodes } from '../schema/problems.js';

/** The policies of a cluster as a file, with its keys; absent keys were not given. */
export interface PolicyBundle extends PolicyKeys {
  admission: NonNullable<PolicyKeys['admission']>;
  routing: NonNullable<PolicyKeys['routing']>;
  preemption: NonNullable<PolicyKeys['preemption']>;
  tenant_budgets: NonNullable<PolicyKeys['tenant_budgets']>;
  /** Keys that have no effect, as warnings. */
  warnings: string[];
  /** The place of a key, for errors found later: `policies.yaml:3:11 (admission.policy)`. */
  place(path: string): string;
}

/** Sections for fleets that change during a run. */
const UNSUPPORTED = ['node_pools', 'autoscaler', 'instance_lifecycle'];

const CODES: SchemaCodes = { invalid: 'BUNDLE_BAD_VALUE', unknownKey: 'BUNDLE_UNKNOWN_KEY' };
const SYNTAX_CODES: SchemaCodes = { ...CODES, invalid: 'BUNDLE_MALFORMED' };

/** Keys that only a live gateway uses, and what a simulation uses instead. */
const WITHOUT_EFFECT: readonly [path: string, of: (keys: PolicyKeys) => unknown, why: string][] = [
  ['priority', ({ priority }) => priority, "the 'priority' section has no effect; priorities come from SLO classes"],
  [
    'routing.block_size',
    ({ routing }) => routing?.block_size,
    'has no effect in a simulation: blocks are those of the replicas (--block-size-in-tokens)',
  ],
  ['routing.cache_blocks', ({ routing }) => routing?.cache_blocks, 'has no effect in a simulation'],
  ['shadow', ({ shadow }) => shadow, 'has no effect in a simulation: compare runs each policy for itself'],
  ['max_num_seqs', (keys) => keys.max_num_seqs, 'has no effect in a simulation: give --max-num-seqs'],
];

/** Reads a policy file. Every key must be known: a misspelt one would be ignored otherwise. */
export async function readPolicyBundle(file: string): Promise<PolicyBundle> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new InputError('BUNDLE_UNREADABLE', file, readProblem(error), 'give a readable YAML file');
  }
  return parsePolicyBundle(decodeText(bytes, file), file);
}

export async function parsePolicyBundle(text: string, file: string): Promise<PolicyBundle> {
  const { checkNode, parseYaml } = await import('../schema/read-yaml.js');
  const { document, places } = parseYaml(text, file, SYNTAX_CODES);
  if (document.contents === null) {
    throw new InputError(
      'BUNDLE_EMPTY',
      file,
      'holds no keys',
      `known: ${Object.keys(POLICY_SCHEMA.entries).join(', ')}`,
    );
  }
  const unsupported = UNSUPPORTED.find((key) => document.has(key));
  if (unsupported !== undefined) {
    const problem = `'${unsupported}' is not supported`;
    throw new InputError(
      'BUNDLE_UNSUPPORTED',
      places.of(unsupported),
      problem,
      'remove it: the fleet has a fixed size',
    );
  }
  const keys = checkNode(document.contents, POLICY_SCHEMA, places, CODES).given as PolicyKeys;
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
