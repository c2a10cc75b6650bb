import { randomStream } from '../../../kernel/random-stream.js';
import type { RoutingPolicy } from '../../contract.js';
import { createExplanation, resetExplanation } from '../../explanation.js';
import { createFleetView } from '../../fleet-view.js';
import { policyOptions } from '../../policy-options.js';
import { createRequestFeatures } from '../../request-features.js';

/** A picker with a fleet and a request to set up; `ask` picks with an explanation, `place` reports the placement. */
export function pickerOf<Options>(policy: RoutingPolicy<Options>, replicas: number, given: Partial<Options> = {}) {
  const options = policyOptions(policy, given, 'test');
  const picker = policy.create(options, { random: randomStream(1, 'router'), replicas });
  const view = createFleetView(replicas);
  const request = createRequestFeatures(replicas);
  const why = createExplanation(replicas);
  return {
    view,
    request,
    why,
    ask() {
      resetExplanation(why);
      return picker.pick(request, view, why);
    },
    place: (replica: number) => picker.placed!(request, replica, view),
    /** Picks and places, for a session. */
    turn(session: string) {
      request.session = session;
      const chosen = picker.pick(request, view);
      picker.placed!(request, chosen, view);
      return chosen;
    },
    fact: (name: string) => Array.from(why.facts.get(name)!),
  };
}
