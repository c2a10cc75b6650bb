import type { LatencyModel } from '../../replica/latency/contract.js';
import { profileLatency } from '../../replica/latency/profile-latency.js';
import { latencyModel } from '../../replica/latency/registry.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { GoodputTarget } from '../../simulator/cluster-config.js';
import { simulate } from '../../simulator/simulate.js';
import type { RunInputs } from '../experiment.js';
import { type MadeWorkload, makeWorkload } from '../recipes/workload-recipe.js';
import { replicaFiles } from './replica-files.js';
import { type RunSummary, summarise } from './run-summary.js';

/** Simulates runs one after the other. Keeps the last workload and latency model: the next run often has the same. */
export class RunSimulator {
  #madeBy = '';
  #made: MadeWorkload | null = null;
  #latencyOf = '';
  #latency: LatencyModel | null = null;

  async simulate({ config, workload: recipe }: RunInputs): Promise<RunSummary> {
    const wanted = JSON.stringify([recipe, config.seed]);
    const { workload, goodputTargets } =
      this.#made !== null && this.#madeBy === wanted ? this.#made : await makeWorkload(recipe, config.seed);
    // Sessions add their later turns to the table: such a workload is used up by its run.
    this.#made = workload.sessions === undefined ? { workload, goodputTargets } : null;
    this.#madeBy = wanted;
    const targets = withTraceTargets(config.goodputTargets, goodputTargets);
    return summarise(simulate({ ...config, goodputTargets: targets }, workload, this.#latencyModel(config.replica)));
  }

  #latencyModel(replica: ReplicaModelConfig): LatencyModel {
    const wanted = JSON.stringify(replica);
    if (this.#latency === null || this.#latencyOf !== wanted) this.#latency = latencyOf(replica);
    this.#latencyOf = wanted;
    return this.#latency;
  }
}

function latencyOf(replica: ReplicaModelConfig): LatencyModel {
  const { tp, dp, moeCommBackend, alphaCoeffs, betaCoeffs, latencyProfile } = replica;
  if (latencyProfile !== undefined) return profileLatency(latencyProfile);
  const { model, gpu } = replicaFiles(replica);
  return latencyModel(replica.latencyModel).create(
    {
      model,
      gpu,
      parallelism: { tp, dp, moeCommBackend },
      ...(alphaCoeffs === null ? {} : { alpha: alphaCoeffs }),
      ...(betaCoeffs === null ? {} : { beta: betaCoeffs }),
    },
    // Printed once, when the configuration was resolved.
    () => {},
  );
}

/** The configuration's own targets win over those of a trace. */
function withTraceTargets(
  own: Readonly<Record<string, GoodputTarget>>,
  recorded: MadeWorkload['goodputTargets'],
): Record<string, GoodputTarget> {
  const merged: Record<string, GoodputTarget> = { ...own };
  for (const [sloClass, target] of Object.entries(recorded)) merged[sloClass] = { ...target, ...own[sloClass] };
  return merged;
}
