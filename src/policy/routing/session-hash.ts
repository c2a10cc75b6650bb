import { xxhash64 } from '../../kernel/hash/xxhash64.js';
import { field, whole } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainRule } from '../explanation.js';
import { LeastInFlight } from './load-only.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';
import { HashRing } from './parts/hash-ring.js';

export const sessionHash: RoutingPolicy<{ virtual_nodes_per_replica: number; tie_break: TieBreak }> = {
  name: 'session-hash',
  summary:
    'Consistent hashing of the session id: each session has its replica, regardless of load; other requests go where the fewest are in flight.',
  goodFor:
    'Comparing with routers that hash a session header onto a ring. Several of them agree without a table, and few sessions move when a replica joins or leaves.',
  notFor:
    'Sessions of very different weight: nothing moves a session away from a busy replica. Prompts shared between sessions.',
  formula: 'home of xxhash64(session) on the ring; without a session: least inFlight',
  options: {
    virtual_nodes_per_replica: field(whole(1, 10_000), { default: 100, help: 'points on the ring' }),
    tie_break: tieBreakOption,
  },
  reads: () => ['inFlight'],
  create({ virtual_nodes_per_replica, tie_break }, { random, replicas }) {
    const ring = new HashRing(xxhash64, virtual_nodes_per_replica, (id, point) => `${id}:${point}`);
    const least = new LeastInFlight(new BestChoice(tie_break, random), replicas);
    return {
      pick({ session }, view, why) {
        const hashed = session !== '';
        const chosen = hashed ? ring.home(view, session) : least.among(view);
        if (why !== undefined) {
          explainFact(why, 'in flight', view, view.inFlight);
          explainRule(
            why,
            chosen,
            hashed ? 0 : least.tied,
            hashed ? 'home of its session' : 'fewest in flight: no session',
          );
        }
        return chosen;
      },
    };
  },
};
