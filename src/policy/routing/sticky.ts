import type { RoutingPolicy } from '../contract.js';
import { LeastInFlight } from './load-only.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';
import { slotOf } from './parts/eligible.js';
import { explainFact, explainRule } from './parts/explain.js';
import { SessionAffinity } from './parts/session-affinity.js';

export const sticky: RoutingPolicy<{ tie_break: TieBreak }> = {
  name: 'sticky',
  summary: 'Keeps a chat on the replica of its first request for ever, whatever the load.',
  goodFor:
    'The upper bound of locality: every turn finds what the turns before it left in the cache, as far as it was not evicted.',
  notFor:
    'Chats of very different weight: a heavy one keeps its replica busy for ever, and nothing moves away. Requests without a chat get no affinity at all.',
  formula:
    "the replica of the chat's first request while it is in the fleet; at first, or without a chat: least inFlight",
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
          explainFact(why, 'in flight', view, view.inFlight);
          explainRule(
            why,
            chosen,
            keeps ? 0 : least.tied,
            keeps
              ? "its chat's replica"
              : bound >= 0
                ? "fewest in flight: its chat's replica is not eligible"
                : 'fewest in flight',
          );
        }
        return chosen;
      },
      placed({ session }, replica, view) {
        if (session === '') return;
        // A replica that is only not eligible at the moment keeps its chats.
        const bound = affinity.get(session);
        affinity.set(session, slotOf(view, bound) >= 0 ? bound! : view.ids[replica]!);
      },
      remembered: () => affinity.size,
    };
  },
};
