import { field, number } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { type Explanation, explainFact, explainHits, explainRule, explainScores } from '../explanation.js';
import type { FleetView } from '../fleet-view.js';
import type { PickState } from '../pick-state.js';
import { hitTokens, type RequestFeatures } from '../request-features.js';
import { lmetricScore } from './lmetric.js';
import { blockSizeOption } from './parts/block-size.js';
import { slotOf } from './parts/eligible.js';
import { SessionAffinity } from './parts/session-affinity.js';

/** A session stays only where more than this share of its prompt is warm. */
const WARM = 0.5;

export const unified: RoutingPolicy<{ overload_factor: number; block_size: number }> = {
  name: 'unified',
  summary:
    "Stays on the session's last replica while that is warm and not overloaded; otherwise the least LMetric score.",
  goodFor:
    'Sessions and agents: the locality of sticky routing without its hot spots. Equal replicas take turns, so an idle fleet fills evenly.',
  notFor:
    'Prompts shared between sessions more than within them: affinity looks only at the last replica of the session. Requests without a session are routed as by lmetric.',
  formula:
    "the session's last replica if hit / max(input, 1) > 0.5 and inFlight <= overload_factor * max(mean inFlight, 1); else least of (lmetric score, uncached, inFlight), those equal in all three in turn",
  options: {
    overload_factor: field(number(0), {
      default: 2,
      help: "a session leaves its replica when that has more than this many times the fleet's mean of requests in flight",
      search: { from: 1, to: 8, log: true },
    }),
    block_size: blockSizeOption(512),
  },
  blockSize: ({ block_size }) => block_size,
  reads: () => ['inFlight', 'pendingPrefillTokens', 'prefixIndex'],
  create({ overload_factor }, { replicas }) {
    const affinity = new SessionAffinity();
    const fallback = new LeastLmetric(replicas);
    return {
      pick(request, view, why) {
        const last = request.session === '' ? -1 : slotOf(view, affinity.get(request.session));
        const stays =
          last >= 0 &&
          view.eligible[last] !== 0 &&
          hitTokens(request, last) / Math.max(request.inputTokens, 1) > WARM &&
          view.inFlight[last]! <= Math.max(meanInFlight(view), 1) * overload_factor;
        if (why !== undefined) fallback.save(why.state);
        const chosen = stays ? last : fallback.among(request, view);
        if (why !== undefined) {
          why.state.numbers[0] = last;
          fallback.explain(why, request, view);
          const { tied } = fallback;
          const best = tied > 1 ? 'its turn among the least LMetric scores' : 'least LMetric score';
          explainRule(why, chosen, stays ? 0 : tied, stays ? "its session's replica: warm and not overloaded" : best);
        }
        return chosen;
      },
      restore(state, { session }, { ids }) {
        affinity.set(session, ids[state.numbers[0]!] ?? '');
        fallback.restore(state);
      },
      placed({ session }, replica, view) {
        if (session !== '') affinity.set(session, view.ids[replica]!);
      },
      remembered: () => affinity.size,
    };
  },
};

function meanInFlight(view: FleetView): number {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] === 0) continue;
    sum += view.inFlight[i]!;
    count++;
  }
  return sum / count;
}

/** The least LMetric score, then the fewest uncached tokens, then the fewest requests; replicas equal in all three take turns. */
class LeastLmetric {
  /** How many replicas were equal in the last choice. */
  tied = 0;
  readonly #scores: Float64Array;
  #turn = 0;

  constructor(replicas: number) {
    this.#scores = new Float64Array(replicas);
  }

  among(request: RequestFeatures, view: FleetView): number {
    const scores = this.#scores;
    let best = -1;
    let tied = 0;
    for (let i = 0; i < view.size; i++) {
      if (view.eligible[i] === 0) continue;
      scores[i] = lmetricScore(request, view, i, 0);
      const order = best < 0 ? -1 : this.#compare(request, view, i, best);
      if (order < 0) {
        best = i;
        tied = 1;
      } else if (order === 0) {
        tied++;
      }
    }
    this.tied = tied;
    if (tied < 2) return best;
    const first = best;
    for (let skip = this.#turn++ % tied; skip > 0; skip--) {
      do best++;
      while (view.eligible[best] === 0 || this.#compare(request, view, best, first) !== 0);
    }
    return best;
  }

  /** Whose turn it is next. */
  save({ numbers }: PickState): void {
    numbers[1] = this.#turn;
  }

  restore({ numbers }: PickState): void {
    this.#turn = numbers[1]!;
  }

  /** Negative where the first replica is better. */
  #compare(request: RequestFeatures, view: FleetView, a: number, b: number): number {
    return (
      this.#scores[a]! - this.#scores[b]! ||
      hitTokens(request, b) - hitTokens(request, a) ||
      view.inFlight[a]! - view.inFlight[b]!
    );
  }

  /** Regret is measured by the score, also where the session's own replica was chosen. */
  explain(why: Explanation, request: RequestFeatures, view: FleetView): void {
    const scores = this.#scores;
    for (let i = 0; i < view.size; i++) scores[i] = 0 - lmetricScore(request, view, i, 0);
    explainScores(why, view, scores);
    explainHits(why, view, request);
    explainFact(why, 'pending prefill tokens', view, view.pendingPrefillTokens);
    explainFact(why, 'in flight', view, view.inFlight);
  }
}
