import type { ClusterConfig } from '../../simulator/cluster-config.js';
import type { SimulateRuns } from '../run-experiment.js';
import type { RunSummary } from '../runs/run-summary.js';
import { scoreOf, type TuneObjective } from './objective.js';
import type { WorkloadPart } from './parts.js';
import { withPolicies } from './policy-set.js';
import type { TuneCandidate } from './sample.js';

/** Measures candidates on parts, each pair once. Every candidate sees the same requests: differences are paired. */
export class Evaluations {
  readonly #config: ClusterConfig;
  readonly #objective: TuneObjective;
  readonly #simulate: SimulateRuns;
  readonly #summaries = new Map<string, Map<WorkloadPart, RunSummary>>();

  constructor(config: ClusterConfig, objective: TuneObjective, simulate: SimulateRuns) {
    this.#config = config;
    this.#objective = objective;
    this.#simulate = simulate;
  }

  /** Runs so far. */
  get count(): number {
    return [...this.#summaries.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async measure(candidates: readonly TuneCandidate[], parts: readonly WorkloadPart[]): Promise<void> {
    const missing = parts.flatMap((part) =>
      candidates.filter(({ name }) => !this.#of(name).has(part)).map((candidate) => ({ candidate, part })),
    );
    const runs = missing.map(({ candidate: { policies }, part: { seed, workload } }) => ({
      config: withPolicies({ ...this.#config, seed }, policies),
      workload,
    }));
    const summaries = await this.#simulate(runs);
    for (const [i, { candidate, part }] of missing.entries()) this.#of(candidate.name).set(part, summaries[i]!);
  }

  summary({ name }: TuneCandidate, part: WorkloadPart): RunSummary {
    return this.#summaries.get(name)!.get(part)!;
  }

  /** The mean score over parts that were measured; less is better. */
  score(candidate: TuneCandidate, parts: readonly WorkloadPart[]): number {
    return parts.reduce((sum, part) => sum + scoreOf(this.#objective, this.summary(candidate, part)), 0) / parts.length;
  }

  /** The best first; among equals the one that came first. */
  ranked(candidates: readonly TuneCandidate[], parts: readonly WorkloadPart[]): TuneCandidate[] {
    const scores = new Map(candidates.map((candidate) => [candidate, this.score(candidate, parts)]));
    return [...candidates].sort((a, b) => scores.get(a)! - scores.get(b)!);
  }

  #of(name: string): Map<WorkloadPart, RunSummary> {
    const found = this.#summaries.get(name) ?? new Map<WorkloadPart, RunSummary>();
    this.#summaries.set(name, found);
    return found;
  }
}
