import * as v from 'valibot';
import { isScalar, type Node } from 'yaml';
import { bare, entriesOf, type Schema } from '../../../schema/facts.js';
import { section } from '../../../schema/fields.js';
import { checkNode, parseYaml } from '../../../schema/read-yaml.js';
import { SPEC_CODES, specInvalid } from '../../errors.js';
import { SPEC } from '../spec-schema.js';
import type { InferencePerfSpec, WorkloadSpec } from '../workload-spec.js';

type SharedPrefix = InferencePerfSpec['shared_prefix'];

/** Defaults of inference-perf. */
const DEFAULTS: SharedPrefix = {
  num_unique_system_prompts: 10,
  num_users_per_system_prompt: 10,
  system_prompt_len: 100,
  question_len: 50,
  output_len: 50,
};
/** Names that its older versions use. */
const OLD_NAMES = {
  num_unique_system_prompts: 'num_groups',
  num_users_per_system_prompt: 'num_prompts_per_group',
} as const;
/** Loads without arrival times. */
const LOAD_TYPES = ['constant', 'poisson'];
const UNREAD = ['question_distribution', 'output_distribution', 'multimodal'] as const;

const PERF = entriesOf(SPEC.entries.inference_perf as Schema)!;
const STAGES = PERF.stages!;
const SHARED_PREFIX = sharedPrefixSchema();

/**
 * The workload of an inference-perf configuration: stages of a constant or random rate, and users who share system
 * prompts. Keys about measuring (server, api, metrics, report and the like) are ignored.
 */
export function readInferencePerf(text: string, path: string): WorkloadSpec {
  const { document, places } = parseYaml(text, path, SPEC_CODES);
  const at = (...keys: string[]) => document.getIn(keys, true) as Node | undefined;
  const fail: Fail = (where, problem, hint) => specInvalid(places.of(where), problem, hint);
  refuseOtherKinds(at, fail);
  const list = at('load', 'stages');
  const stages =
    list && (checkNode(list, STAGES, places, SPEC_CODES, ['load', 'stages']).given as InferencePerfSpec['stages']);
  if (stages === undefined || stages.length === 0) {
    const problem = stages === undefined ? 'is missing' : 'the list is empty';
    throw fail('load.stages', problem, 'give a list of rate and duration');
  }
  const shared = at('data', 'shared_prefix');
  const { seed, ...given } = isNothing(shared)
    ? {}
    : (checkNode(shared!, SHARED_PREFIX, places, SPEC_CODES, ['data', 'shared_prefix'])
        .given as Partial<SharedPrefix> & {
        seed?: number;
      });
  return {
    version: '2',
    ...(seed === undefined ? {} : { seed }),
    inference_perf: { stages, shared_prefix: { ...DEFAULTS, ...renamed(given, fail) } },
  };
}

type Fail = (where: string, problem: string, hint: string) => Error;

/** Data, loads and lengths that a workload specification cannot express in the same way. */
function refuseOtherKinds(at: (...keys: string[]) => Node | undefined, fail: Fail): void {
  const textAt = (...keys: string[]) => {
    const node = at(...keys);
    return isScalar(node) ? String(node.value) : undefined;
  };
  const dataType = textAt('data', 'type');
  if (dataType !== 'shared_prefix') {
    const problem = dataType === undefined ? 'is missing' : `'${dataType}' is not read`;
    throw fail('data.type', problem, 'only shared_prefix is: give it, and the keys under data.shared_prefix');
  }
  const loadType = textAt('load', 'type') ?? 'constant';
  if (!LOAD_TYPES.includes(loadType)) {
    throw fail('load.type', `'${loadType}' is not read`, 'give constant or poisson, and stages of rate and duration');
  }
  if (!isNothing(at('load', 'sweep'))) {
    throw fail('load.sweep', 'its stages are known only to the run that created them', 'write them under load.stages');
  }
  const unread = UNREAD.find((key) => !isNothing(at('data', 'shared_prefix', key)));
  if (unread === undefined) return;
  const where = `data.shared_prefix.${unread}`;
  throw fail(where, 'is not read: all lengths are fixed', 'give question_len and output_len');
}

/** The keys of a shared prefix, all optional, under old and new names. */
function sharedPrefixSchema() {
  const keys = Object.entries(entriesOf(PERF.shared_prefix!)!).map(([name, key]) => [name, v.optional(bare(key))]);
  const optional: v.ObjectEntries = Object.fromEntries(keys);
  const old = Object.entries(OLD_NAMES).map(([name, oldName]) => [oldName, optional[name]!]);
  return section('shared_prefix', { ...optional, ...Object.fromEntries(old), seed: SPEC.entries.seed });
}

function renamed(
  given: Partial<SharedPrefix> & { num_groups?: number; num_prompts_per_group?: number },
  fail: Fail,
): Partial<SharedPrefix> {
  const { num_groups, num_prompts_per_group, ...values } = given;
  const old = { num_unique_system_prompts: num_groups, num_users_per_system_prompt: num_prompts_per_group };
  for (const name of ['num_unique_system_prompts', 'num_users_per_system_prompt'] as const) {
    const value = old[name];
    if (value === undefined) continue;
    if (values[name] !== undefined) {
      throw fail(`data.shared_prefix.${OLD_NAMES[name]}`, `is an older name of ${name}`, 'keep one of them');
    }
    values[name] = value;
  }
  return values;
}

/** Absent, or empty after the colon. */
function isNothing(node: Node | undefined): boolean {
  return node === undefined || (isScalar(node) && node.value === null);
}
