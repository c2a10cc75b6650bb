import type { LatencyModel } from '../../replica/latency/contract.js';
import { replicaLatency } from '../../replica/replica-latency.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { EVERY_CLASS, type GoodputTarget } from '../../simulator/cluster-config.js';
import { simulate } from '../../simulator/simulate.js';
import type { RunInputs } from '../experiment.js';
import { dependsOnSeed, type MadeWorkload, makeWorkload, type ReadTrace } from '../recipes/workload-recipe.js';
import { type RunSummary, summarise } from './run-summary.js';

/** Simulates runs one after the other. Keeps the last workload and latency model: the next run often has the same. */
export class RunSimulator {
  #madeBy = '';
  #made: MadeWorkload | null = null;
  #latencyOf = '';
  #latency: LatencyModel | null = null;
  readonly #read: ReadTrace | undefined;

  /** @param read in place of the files of traces, for a caller that has them in memory */
  constructor(read?: ReadTrace) {
    this.#read = read;
  }

  async simulate({ config, workload: recipe, ...wants }: RunInputs): Promise<RunSummary> {
    const wanted = JSON.stringify([recipe, dependsOnSeed(recipe) ? config.seed : null]);
    const isKnown = this.#made !== null && this.#madeBy === wanted;
    const made = isKnown ? this.#made! : await makeWorkload(recipe, config.seed, this.#read);
    const { goodputTargets, maxInFlight, workload } = made;
    // Sessions add their later turns to the table, and jitter and a cap on requests in flight move its arrivals: such a
    // workload is used up by its run.
    const isMoved = config.arrivalJitterUs !== undefined || maxInFlight !== undefined;
    this.#made = workload.sessions !== undefined || isMoved ? null : made;
    this.#madeBy = wanted;
    const targets = withTraceTargets(config.goodputTargets, goodputTargets);
    const cap = maxInFlight === undefined ? {} : { maxInFlight };
    const capped = { ...config, ...cap, goodputTargets: targets };
    return summarise(simulate(capped, workload, this.#latencyModel(config.replica)), wants);
  }

  #latencyModel(replica: ReplicaModelConfig): LatencyModel {
    const wanted = JSON.stringify(replica);
    if (this.#latency === null || this.#latencyOf !== wanted) this.#latency = replicaLatency(replica);
    this.#latencyOf = wanted;
    return this.#latency;
  }
}

/** The configuration's own targets win over those of a trace. */
function withTraceTargets(
  own: Readonly<Record<string, GoodputTarget>>,
  recorded: MadeWorkload['goodputTargets'],
): Record<string, GoodputTarget> {
  const merged: Record<string, GoodputTarget> = { ...own };
  for (const [sloClass, target] of Object.entries(recorded)) {
    merged[sloClass] = { ...target, ...own[EVERY_CLASS], ...own[sloClass] };
  }
  return merged;
}
