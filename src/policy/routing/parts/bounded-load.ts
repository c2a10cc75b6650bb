import { type Explanation, explainFact, explainRule } from '../../explanation.js';
import type { FleetView } from '../../fleet-view.js';
import type { HashRing } from './hash-ring.js';

/** Requests in flight on the eligible replicas, and how many one of them may have. */
export class FleetLoad {
  total = 0;
  replicas = 0;
  least = 0;
  /** Set by the policy. A field, not an argument: passing a fraction would allocate a number. */
  bound = Number.POSITIVE_INFINITY;

  look(view: FleetView): void {
    let total = 0;
    let replicas = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < view.size; i++) {
      if (view.eligible[i] === 0) continue;
      const load = view.inFlight[i]!;
      total += load;
      replicas++;
      if (load < least) least = load;
    }
    this.total = total;
    this.replicas = replicas;
    this.least = least;
  }
}

/**
 * The key's home, or the next replica on the ring whose load stays within the bound with one more request. If there is none, the
 * home, without a walk around the ring.
 */
export function pickWithinBound(
  ring: HashRing,
  view: FleetView,
  key: string,
  load: FleetLoad,
  why?: Explanation,
): number {
  const home = ring.home(view, key);
  const { bound } = load;
  const allRefuse = load.least + 1 > bound;
  let chosen = home;
  while (!allRefuse && chosen >= 0 && view.inFlight[chosen]! + 1 > bound) {
    why?.removed.set(chosen, 'one more request would exceed the bound');
    chosen = ring.next(view);
  }
  if (why !== undefined) {
    ring.save(why.state);
    explainFact(why, 'in flight', view, view.inFlight);
    explainFact(why, 'bound', view, new Float64Array(view.size).fill(bound));
    const within = chosen === home ? 'home of its key' : 'next on the ring after the home of its key';
    explainRule(why, chosen, 0, allRefuse ? 'home of its key: all replicas exceed the bound' : within);
  }
  return chosen;
}
