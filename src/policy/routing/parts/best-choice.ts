import type { RandomStream } from '../../../kernel/random-stream.js';
import { choice, field } from '../../../schema/fields.js';
import type { FleetView } from '../../fleet-view.js';

export type TieBreak = 'first' | 'random';

/** The option that policies with ties share. */
export const tieBreakOption = field(choice(['first', 'random']), {
  default: 'first',
  help: 'choice among equals: the first in fleet order, or one drawn from the seeded stream',
});

/** Finds the greatest value among the eligible replicas. A random number is drawn only when two or more share it. */
export class BestChoice {
  /** How many eligible replicas shared the greatest value in the last choice. */
  tied = 0;
  readonly #tieBreak: TieBreak;
  readonly #random: RandomStream;

  constructor(tieBreak: TieBreak, random: RandomStream) {
    this.#tieBreak = tieBreak;
    this.#random = random;
  }

  /** The chosen slot, or -1 when none is eligible. */
  among(view: FleetView, values: Float64Array): number {
    let first = -1;
    let best = Number.NEGATIVE_INFINITY;
    let tied = 0;
    for (let i = 0; i < view.size; i++) {
      if (view.eligible[i] === 0) continue;
      if (values[i]! > best) {
        first = i;
        best = values[i]!;
        tied = 1;
      } else {
        tied += values[i] === best ? 1 : 0;
      }
    }
    this.tied = tied;
    if (tied < 2 || this.#tieBreak === 'first') return first;

    let chosen = first;
    for (let skip = this.#random.below(tied); skip > 0; skip--) {
      do chosen++;
      while (view.eligible[chosen] === 0 || values[chosen] !== best);
    }
    return chosen;
  }
}
