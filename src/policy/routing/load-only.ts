import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainRule } from '../explanation.js';
import type { FleetView } from '../fleet-view.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';

/** Finds the replica with the fewest requests in flight; several policies fall back to it. */
export class LeastInFlight {
  readonly #scores: Float64Array;
  readonly #best: BestChoice;

  constructor(best: BestChoice, replicas: number) {
    this.#scores = new Float64Array(replicas);
    this.#best = best;
  }

  /** How many replicas were equal in the last choice. */
  get tied(): number {
    return this.#best.tied;
  }

  among(view: FleetView): number {
    for (let i = 0; i < view.size; i++) this.#scores[i] = 0 - view.inFlight[i]!;
    return this.#best.among(view, this.#scores);
  }
}

export const loadOnly: RoutingPolicy<{ tie_break: TieBreak }> = {
  name: 'load-only',
  summary: "Picks the replica with the fewest requests in flight, by the router's own count.",
  goodFor:
    'A baseline that knows neither caches nor sessions: what another policy gains over it comes from knowing them. Routers that cannot scrape their replicas.',
  notFor:
    'Prompts that share prefixes. On a mostly idle fleet the first replica gets nearly everything, unless ties are drawn.',
  formula: 'least inFlight; the first among equals',
  options: { tie_break: tieBreakOption },
  reads: () => ['inFlight'],
  create({ tie_break }, { random, replicas }) {
    const least = new LeastInFlight(new BestChoice(tie_break, random), replicas);
    return {
      pick(_request, view, why) {
        const chosen = least.among(view);
        if (why !== undefined) {
          explainFact(why, 'in flight', view, view.inFlight);
          explainRule(why, chosen, least.tied, 'fewest requests in flight');
        }
        return chosen;
      },
    };
  },
};
