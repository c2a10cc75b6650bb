import type { ShadowOutcome } from '../../gateway/decisions/shadow-decision.js';
import type { RoutingPicker } from '../../policy/contract.js';
import { createExplanation, resetExplanation } from '../../policy/explanation.js';
import { createFleetView } from '../../policy/fleet-view.js';
import { createRequestFeatures } from '../../policy/request-features.js';
import type { ObservedDecision } from './observed-decision.js';
import type { SeenQueue } from './seen-queue.js';

/**
 * The first reading of a shadow: what it would choose from the view that the policy that serves had. Its books follow what really
 * happened: the view is the real one, and it learns that a request went where it was really sent.
 */
export class RealPlacements {
  /** How the last choice compares with that of the policy that serves. */
  outcome: ShadowOutcome = 'same';
  readonly #picker: RoutingPicker;
  #why = createExplanation(0);
  readonly #features = createRequestFeatures(0);
  readonly #view = createFleetView(0);

  constructor(picker: RoutingPicker) {
    this.#picker = picker;
  }

  /** Whether it learns from placements. */
  get follows(): boolean {
    return this.#picker.placed !== undefined;
  }

  /** The slot that the policy would have chosen. */
  decide({ candidates, chosen: served, features, view }: ObservedDecision): number {
    if (this.#why.scores.length < view.size) this.#why = createExplanation(view.eligible.length);
    const why = this.#why;
    resetExplanation(why);
    const chosen = this.#picker.pick(features, view, why);
    this.#picker.placed?.(features, served, view);
    if (candidates === 1) this.outcome = 'forced';
    else if (chosen === served) this.outcome = 'same';
    else this.outcome = why.tied > 1 && why.scores[chosen] === why.scores[served] ? 'tied' : 'different';
    return chosen;
  }

  /** Learns where a request of a session went about which it did not decide. */
  follow({ atUs, ids, replica, session }: SeenQueue, i: number): void {
    if (this.#picker.placed === undefined) return;
    const features = this.#features;
    const view = this.#view;
    features.nowUs = atUs[i]!;
    features.session = session[i]!;
    view.ids = ids[i]!;
    view.size = view.ids.length;
    this.#picker.placed(features, replica[i]!, view);
  }
}
