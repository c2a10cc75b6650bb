import { readYaml } from '../../schema/read-yaml.js';
import { SPEC_CODES, specInvalid } from '../errors.js';
import { readInputFile } from '../input-file.js';
import { isInferencePerf } from './inference-perf/is-inference-perf.js';
import { readLengthFile } from './length-file.js';
import { OLD_CLASSES } from './rules/class-rules.js';
import { RULES } from './rules/registry.js';
import { SPEC } from './spec-schema.js';
import { lengthsOf, trafficOf } from './walk.js';
import type { WorkloadSpec } from './workload-spec.js';

/** Values of the command line that replace those of the file. */
export interface SpecOverrides {
  aggregateRate?: number;
}

/** The same from a file, plain or gzipped; a configuration of inference-perf is one, too. */
export async function readWorkloadSpecFile(path: string, overrides: SpecOverrides = {}): Promise<WorkloadSpec> {
  const text = (await readInputFile(path)).toString('utf8');
  if (!isInferencePerf(text)) return readWorkloadSpec(text, path, overrides);
  const { readInferencePerf } = await import('./inference-perf/inference-perf.js');
  return readInferencePerf(text, path);
}

/**
 * Reads a workload specification. Every key must be known and every rule hold; the first violation is an InputError
 * with its line and column. Older versions are migrated, and files of lengths are read into `params`: the result
 * depends on no other file.
 */
export function readWorkloadSpec(text: string, path: string, overrides: SpecOverrides = {}): WorkloadSpec {
  const { given, places } = readYaml(text, path, SPEC, SPEC_CODES, 'start it with version: "2", then clients');
  const read = given as Omit<WorkloadSpec, 'version'> & { version?: string };
  const spec: WorkloadSpec = { ...read, version: '2' };
  if (read.version !== '2') renameClasses(spec);
  if (overrides.aggregateRate !== undefined && spec.inference_perf === undefined)
    spec.aggregate_rate = overrides.aggregateRate;
  const fail = (where: string, problem: string, hint: string) => specInvalid(places.of(where), problem, hint);
  for (const rule of RULES) rule(spec, fail);
  for (const { path: where, length, limits } of lengthsOf(spec)) {
    if (length.file === undefined) continue;
    length.params = readLengthFile(length.file, path, limits, places.of(`${where}.file`));
    delete length.file;
  }
  return spec;
}

function renameClasses(spec: WorkloadSpec): void {
  const renamed = (name: string) => (Object.hasOwn(OLD_CLASSES, name) ? OLD_CLASSES[name]! : name);
  for (const { traffic } of trafficOf(spec)) {
    if (traffic.slo_class !== undefined) traffic.slo_class = renamed(traffic.slo_class);
  }
  if (spec.goodput_slo_targets === undefined) return;
  const targets = Object.entries(spec.goodput_slo_targets).map(([name, target]) => [renamed(name), target]);
  spec.goodput_slo_targets = Object.fromEntries(targets);
}
