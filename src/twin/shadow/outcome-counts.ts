import { SHADOW_OUTCOMES, type ShadowOutcome } from '../../gateway/decisions/shadow-decision.js';
import type { ClassOutcomes } from '../../gateway/telemetry/shadow-figures.js';

type Counts = Record<ShadowOutcome | 'compared' | 'agreed', number>;

/** Classes with counts of their own; requests may name any class, so the rest is counted together. */
const MOST_CLASSES = 16;
const OTHER = 'other';

/** Decisions by SLO class and outcome. */
export class OutcomeCounts {
  readonly #byClass = new Map<string, Counts>();

  /** @param weight how many requests the decision stands for */
  add(sloClass: string, outcome: ShadowOutcome, weight: number): void {
    let counts = this.#byClass.get(sloClass);
    if (counts === undefined) {
      const name = this.#byClass.size < MOST_CLASSES ? sloClass : OTHER;
      counts = this.#byClass.get(name) ?? {
        ...{ same: 0, tied: 0, different: 0, forced: 0 },
        ...{ compared: 0, agreed: 0 },
      };
      this.#byClass.set(name, counts);
    }
    counts[outcome]++;
    if (outcome === 'forced') return;
    counts.compared += weight;
    if (outcome !== 'different') counts.agreed += weight;
  }

  /** In the order of their names; classes without a decision are left out. */
  list(): ClassOutcomes[] {
    return [...this.#byClass]
      .map(([sloClass, counts]) => ({ sloClass, ...counts }))
      .filter((one) => SHADOW_OUTCOMES.some((outcome) => one[outcome] > 0))
      .sort((a, b) => (a.sloClass < b.sloClass ? -1 : 1));
  }
}
