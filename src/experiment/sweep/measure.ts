import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { METRICS, type Metric, type MetricKey, metricOf } from '../metrics.js';

/** What constraints and objectives are about: a metric of the runs, the GPUs of the fleet, or a setting. */
export type Measure =
  | { kind: 'metric'; name: string; key: MetricKey }
  | { kind: 'gpus'; name: 'gpus' }
  | { kind: 'setting'; name: string };

/** GPUs of all replicas. */
export function gpusOf({ fleet, instances, replica }: ClusterConfig): number {
  const groups = fleet ?? [{ count: instances, replica }];
  return groups.reduce((sum, { count, replica: { dp, tp } }) => sum + count * tp * dp, 0);
}

const SUFFIX = /_(?:ms|rps|per_sec)$/;
const CLASS_METRIC = /^ttft_p99(?:_ms)?\/(.+)$/;

/** The metric of a name, with or without its unit: `ttft_p99`, `ttft_p99_ms`, `ttft_p99/critical`. */
function metricNamed(name: string): MetricKey | null {
  const wanted = name.replaceAll('-', '_').toLowerCase();
  const found = METRICS.find(({ key }) => key === wanted || key.replace(SUFFIX, '') === wanted);
  if (found !== undefined) return found.key;
  const sloClass = CLASS_METRIC.exec(name)?.[1];
  return sloClass === undefined ? null : `ttft_p99_ms/${sloClass}`;
}

/** @param settings names of settings that it may be; those of flags and axes */
export function measureNamed(name: string, settings: readonly string[]): Measure | null {
  // Before metrics: none has the name of a flag.
  if (settings.includes(name)) return { kind: 'setting', name };
  if (name === 'gpus') return { kind: 'gpus', name };
  const key = metricNamed(name);
  return key === null ? null : { kind: 'metric', name, key };
}

export function unknownMeasure(name: string, place: string, settings: readonly string[]): InputError {
  const known = [...METRICS.map(({ key }) => key.replace(/_ms$/, '')), 'gpus', ...settings];
  // All flags would fill a screen: only the nearest of them is named.
  const near = /^did you mean [^?]*\?/.exec(knownNames(name, known))?.[0] ?? '';
  const metrics = METRICS.map(({ key }) => key.replace(/_ms$/, '')).join(', ');
  const hint = `${near} metrics: ${metrics}, gpus; or the name of a setting`.trim();
  return new InputError('UNKNOWN_MEASURE', place, `'${name}' is neither a metric nor a setting`, hint);
}

/** An end of the sweep: a measure and which of its values are better. */
export interface Objective {
  measure: Measure;
  better: 'less' | 'more';
}

/** Settings that are the load: more of it with the same result is better. */
const LOAD = ['rate', 'concurrency'];

/** `ttft_p99`, `gpus`, `rate`, or with a direction: `output-tokens:more`. */
export function readObjective(text: string, place: string, settings: readonly string[]): Objective {
  const [, name, direction] = /^(.*?)(?::(less|more))?$/.exec(text.trim())!;
  const measure = measureNamed(name!, settings);
  if (measure === null) throw unknownMeasure(name!, place, settings);
  if (direction !== undefined) return { measure, better: direction as Objective['better'] };
  const better = betterOf(measure);
  if (better !== null) return { measure, better };
  const hint = `write ${name}:less or ${name}:more`;
  throw new InputError('BAD_OBJECTIVE', place, `whether less or more of '${name}' is better is not known`, hint);
}

/** Null where it is not known. */
export function betterOf(measure: Measure): Objective['better'] | null {
  if (measure.kind === 'metric') return metricOf(measure.key).better;
  if (measure.kind === 'gpus') return 'less';
  return LOAD.includes(measure.name) ? 'more' : null;
}

/** The metric that a measure has in texts: its title, unit and digits. */
export function shownMetric(measure: Measure): Pick<Metric, 'title' | 'unit'> {
  if (measure.kind === 'metric') return metricOf(measure.key);
  if (measure.kind === 'gpus') return { title: 'GPUs', unit: '' };
  return { title: measure.name, unit: '' };
}
