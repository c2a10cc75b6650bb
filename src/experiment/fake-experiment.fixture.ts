import type { ClusterConfig } from '../simulator/cluster-config.js';
import { fakeCluster } from '../simulator/fake-cluster.fixture.js';
import { fakeSaturation } from '../simulator/results/saturation/fake-saturation.fixture.js';
import type { Experiment, RunInputs, Variant } from './experiment.js';
import { METRICS, type MetricValues } from './metrics.js';
import type { WorkloadRecipe } from './recipes/workload-recipe.js';
import { QUANTILES } from './runs/course/latency-quantiles.js';
import type { RunSummary } from './runs/run-summary.js';

/** A few requests at a constant rate. */
export function fakeRecipe(requests = 5): WorkloadRecipe {
  const lengths = { type: 'constant' as const, params: { value: 8 } };
  return {
    kind: 'spec',
    spec: {
      version: '2',
      clients: [
        { id: 'a', arrival: { process: 'constant' }, input_distribution: lengths, output_distribution: lengths },
      ],
      aggregate_rate: 100,
      num_requests: requests,
    },
    options: {},
  };
}

/** A run of a model in the catalogue: workers load it by name. */
export function fakeRun(changes: Partial<ClusterConfig> = {}, workload: WorkloadRecipe = fakeRecipe()): RunInputs {
  const names = { model: 'qwen/qwen3-14b', hardware: 'H100', latencyModel: 'trained-physics' };
  const replica = { ...names, moeCommBackend: 'allgather_reducescatter', totalKvBlocks: 1000, maxModelLen: 4096 };
  return { config: fakeCluster(changes, replica), workload };
}

export function fakeVariant(name: string, changes: Partial<Variant> = {}): Variant {
  return { name, ...fakeRun(), against: null, isolates: '', series: name, x: null, ...changes };
}

export function fakeExperiment(variants: readonly Variant[], changes: Partial<Experiment> = {}): Experiment {
  return { title: 'tiny', variants, seeds: [1, 2, 3], axis: null, headline: null, notes: [], ...changes };
}

/** What a run might have measured: every request completed, and 0 for omitted values. */
export function fakeSummary(metrics: Partial<MetricValues> = {}, changes: Partial<RunSummary> = {}): RunSummary {
  const none = Object.fromEntries(METRICS.map(({ key }) => [key, 0])) as MetricValues;
  return {
    requests: 10,
    inputTokens: 80,
    metrics: { ...none, completed_share: 1, ...metrics } as MetricValues,
    ttftMs: QUANTILES.map((p) => 1 + p),
    e2eMs: QUANTILES.map((p) => 10 + p),
    targets: { least: 4, most: 6, byInstance: [4, 6] },
    load: { stepUs: 1_000_000, kind: 'instances', rows: [Array(100).fill(1), Array(100).fill(2)] },
    saturation: fakeSaturation(),
    absentClasses: [],
    stepTimes: 'made up',
    ...changes,
  };
}
