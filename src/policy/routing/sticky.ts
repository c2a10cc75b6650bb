import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainRule } from '../explanation.js';
import { LeastInFlight } from './load-only.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';
import { slotOf } from './parts/eligible.js';
import { SessionAffinity } from './parts/session-affinity.js';

export const sticky: RoutingPolicy<{ tie_break: TieBreak }> = {
  name: 'sticky',
  summary: 'Keeps a session on the replica of its first request, regardless of load.',
  goodFor: 'The upper bound of locality: every turn finds what earlier turns left in the cache, unless it was evicted.',
  notFor:
    'Sessions of very different weight: a heavy one keeps its replica busy, and nothing moves away. Requests without a session get no affinity.',
  formula:
    "the replica of the session's first request while it is in the fleet; for a first request, or without a session: least inFlight",
  options: { tie_break: tieBreakOption },
  reads: () => ['inFlight'],
  create({ tie_break }, { random, replicas }) {
    const least = new LeastInFlight(new BestChoice(tie_break, random), replicas);
    const affinity = new SessionAffinity();
    return {
      pick({ session }, view, why) {
        const bound = session === '' ? -1 : slotOf(view, affinity.get(session));
        const keeps = bound >= 0 && view.eligible[bound] !== 0;
        const chosen = keeps ? bound : least.among(view);
        if (why !== undefined) {
          why.state.numbers[0] = bound;
          explainFact(why, 'in flight', view, view.inFlight);
          explainRule(
            why,
            chosen,
            keeps ? 0 : least.tied,
            keeps
              ? "its session's replica"
              : bound >= 0
                ? "fewest in flight: its session's replica is not eligible"
                : 'fewest in flight',
          );
        }
        return chosen;
      },
      restore: ({ numbers }, { session }, { ids }) => affinity.set(session, ids[numbers[0]!] ?? ''),
      placed({ session }, replica, view) {
        if (session === '') return;
        // A replica that is not eligible at the moment keeps its sessions.
        const bound = affinity.get(session);
        affinity.set(session, slotOf(view, bound) >= 0 ? bound! : view.ids[replica]!);
      },
      remembered: () => affinity.size,
    };
  },
};
