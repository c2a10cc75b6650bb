import { createExplanation, type Explanation } from '../policy/explanation.js';
import type { FleetView } from '../policy/fleet-view.js';
import { flipLine } from '../policy/flip/flip-record.js';
import { completeScores, regretOf } from '../policy/host/decision-scores.js';
import type { PolicyHost } from '../policy/host/policy-host.js';
import { byName } from './by-name.js';
import type { DecisionSummary } from './result-document.js';

/**
 * Decisions and their regret: the best candidate's score minus the chosen one's, by the policy's own scores, or by minus the effective
 * load for policies without scores.
 */
export class DecisionTrace {
  /** To be filled in by the next pick. */
  readonly why: Explanation;
  readonly #write: ((line: string) => void) | undefined;
  readonly #listed: number;
  readonly #targets: Float64Array;
  #admitted = 0;
  #placed = 0;
  #regretSum = 0;
  #regretMax = 0;

  /** @param listed how many candidates a line lists; 0 for all */
  constructor(replicas: number, listed: number, write: ((line: string) => void) | undefined) {
    this.why = createExplanation(replicas);
    this.#listed = listed === 0 ? replicas : listed;
    this.#write = write;
    this.#targets = new Float64Array(replicas);
  }

  admitted(): void {
    this.#admitted++;
  }

  refused(nowUs: number, id: () => string, reason: string): void {
    this.#write?.(`${JSON.stringify({ t_us: nowUs, request_id: id(), admitted: false, reason })}\n`);
  }

  /**
   * A pick was made with `why`; before the view changes because of it.
   * @param host is asked what would have flipped it only where lines are written: a search takes longer than the pick
   */
  picked(nowUs: number, id: () => string, chosen: number, host: Pick<PolicyHost, 'view' | 'findFlip'>): void {
    const { view } = host;
    completeScores(this.why, view);
    const regret = regretOf(this.why, view, chosen);
    if (chosen >= 0) {
      this.#targets[chosen]!++;
      this.#placed++;
      this.#regretSum += regret;
      this.#regretMax = Math.max(this.#regretMax, regret);
    }
    if (this.#write === undefined) return;
    const { candidates, ...facts } = this.#record(nowUs, id(), chosen, regret, view);
    const flip = flipLine(host.findFlip(chosen, this.why), view.ids);
    this.#write(`${JSON.stringify({ ...facts, flip, candidates })}\n`);
  }

  summary(reasons: ReadonlyMap<string, number>): DecisionSummary {
    const rejected = [...reasons.values()].reduce((a, b) => a + b, 0);
    const targets: [string, number][] = [];
    for (let i = 0; i < this.#targets.length; i++) {
      if (this.#targets[i]! > 0) targets.push([`instance_${i}`, this.#targets[i]!]);
    }
    return {
      total: this.#admitted + rejected,
      admitted: this.#admitted,
      rejected,
      reasons: Object.fromEntries([...reasons].sort(byName)),
      targets: Object.fromEntries(targets),
      mean_regret: this.#placed === 0 ? 0 : this.#regretSum / this.#placed,
      max_regret: this.#regretMax,
    };
  }

  #record(nowUs: number, id: string, chosen: number, regret: number, view: FleetView) {
    const { why } = this;
    const candidates = Array.from({ length: view.size }, (_, i) => i)
      .filter((i) => !Number.isNaN(why.scores[i]!))
      .sort((a, b) => why.scores[b]! - why.scores[a]! || (`instance_${a}` < `instance_${b}` ? -1 : 1))
      .slice(0, this.#listed)
      .map((i) => ({
        instance: `instance_${i}`,
        score: why.scores[i]!,
        ...(why.terms.size === 0
          ? {}
          : { terms: Object.fromEntries(why.terms.names().map((name, t) => [name, why.terms.at(t)[i]!])) }),
        queued: view.queued[i]!,
        running: view.running[i]!,
        in_flight: view.inFlight[i]!,
        kv_utilization: view.kvUsed[i]!,
        free_kv_blocks: view.freeBlocks[i]!,
        cache_hit_rate: view.cacheHitRate[i]!,
        signal_age_us: view.reportedAgeUs[i]!,
      }));
    return {
      t_us: nowUs,
      request_id: id,
      admitted: true,
      chosen: chosen < 0 ? null : `instance_${chosen}`,
      rule: why.rule,
      regret,
      candidates,
    };
  }
}
