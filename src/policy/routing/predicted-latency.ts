import { choice, field, flag, number } from '../../schema/fields.js';
import type { RoutingPicker, RoutingPolicy } from '../contract.js';
import { type Explanation, explainFact, explainHits, explainRule, explainScores } from '../explanation.js';
import type { FleetView } from '../fleet-view.js';
import { CORRECTION } from '../latency-predictor.js';
import type { RequestFeatures } from '../request-features.js';
import { lmetricScore } from './lmetric.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';
import { blockSizeOption } from './parts/block-size.js';
import { SloTargets, type SloTargetsByClass, sloTargetsOption } from './parts/slo-targets.js';

interface PredictedOptions {
  slo: SloTargetsByClass;
  headroom: 'most' | 'least';
  shed: boolean;
  output_tokens: number;
  others_weight: number;
  oracle: 'off' | 'ttft' | 'total';
  tie_break: TieBreak;
  block_size: number;
}

/** Why a sheddable request is refused. */
export const NO_HEADROOM = 'no replica can meet its latency target';

export const predictedLatency: RoutingPolicy<PredictedOptions> = {
  name: 'predicted-latency',
  summary:
    'Predicts the time to first token and between tokens on every replica from its latency profile, and takes the least, or keeps within a target.',
  goodFor:
    'Replicas of different speed: other GPUs, tensor parallelism or engines in one pool. Requests with latency targets, by class or by header.',
  notFor:
    'Gateways without latency profiles: it then decides by the counts of the router, as `lmetric` with `batch_offset: 1`.',
  formula:
    'without a target: least TTFT + output_tokens * ITL + others_weight * promptTime * inFlight; with one: of those within it most (least) headroom, else least deficit',
  options: {
    slo: sloTargetsOption,
    headroom: field(choice(['most', 'least']), {
      default: 'most',
      help: 'among replicas that meet the target: the one with the most headroom (spreading) or the least (packing)',
    }),
    shed: field(flag, {
      default: false,
      help: 'refuse requests of sheddable classes when no replica is predicted to meet their target',
    }),
    output_tokens: field(number(0, 1e6), {
      default: 30,
      help: 'tokens after the first whose time counts; no router knows how many there will be',
      search: { from: 0, to: 1000 },
    }),
    others_weight: field(number(0, 1000), {
      default: 0.1,
      help: 'weight of the delay that the prompt causes to each request in flight there',
      search: { from: 0, to: 4 },
    }),
    oracle: field(choice(['off', 'ttft', 'total']), {
      default: 'off',
      help: 'in a simulation: predictions are the truth, and without a target the least TTFT or the least total time of all requests wins',
    }),
    tie_break: tieBreakOption,
    block_size: blockSizeOption(0),
  },
  blockSize: ({ block_size }) => block_size,
  reads: ({ oracle }) => [
    ...(oracle === 'off' ? [] : (['truth'] as const)),
    ...(['prediction', 'inFlight', 'pendingPrefillTokens', 'prefixIndex'] as const),
  ],
  create: (options, { random, replicas }) =>
    new PredictedPicker(options, new BestChoice(options.tie_break, random), replicas),
};

class PredictedPicker implements RoutingPicker {
  refusal: string | null = null;
  readonly #options: PredictedOptions;
  readonly #best: BestChoice;
  readonly #targets: SloTargets;
  readonly #scores: Float64Array;
  #rule = '';

  constructor(options: PredictedOptions, best: BestChoice, replicas: number) {
    this.#options = options;
    this.#best = best;
    this.#targets = new SloTargets(options.slo);
    this.#scores = new Float64Array(replicas);
  }

  pick(request: RequestFeatures, view: FleetView, why?: Explanation): number {
    this.refusal = null;
    this.#targets.look(request);
    const isPredicted = hasPredictions(request, view);
    if (!isPredicted) this.#scoreByBooks(request, view);
    else if (!this.#targets.isEmpty) this.#scoreByHeadroom(request, view);
    else if (this.#options.oracle === 'off') this.#scoreByLatency(request, view);
    else this.#scoreByTruth(request, view);
    const best = this.#best.among(view, this.#scores);
    const chosen = this.refusal === null ? best : -1;
    if (why !== undefined) this.#explain(request, view, why, best, isPredicted);
    return chosen;
  }

  /** Nothing is known of the speed of a replica: the router's own counts decide. */
  #scoreByBooks(request: RequestFeatures, view: FleetView): void {
    for (let i = 0; i < view.size; i++) this.#scores[i] = 0 - lmetricScore(request, view, i, 1);
    this.#rule = 'no latency profile: least prompt work times requests in flight';
  }

  #scoreByLatency({ predictions }: RequestFeatures, view: FleetView): void {
    const { others_weight, output_tokens } = this.#options;
    const { itlUs, promptUs, ttftUs } = predictions;
    for (let i = 0; i < view.size; i++) {
      const othersUs = others_weight * promptUs[i]! * view.inFlight[i]!;
      this.#scores[i] = 0 - (ttftUs[i]! + output_tokens * itlUs[i]! + othersUs);
    }
    this.#rule = 'least predicted latency';
  }

  #scoreByTruth({ predictions: { totalUs, ttftUs } }: RequestFeatures, view: FleetView): void {
    const isTotal = this.#options.oracle === 'total';
    for (let i = 0; i < view.size; i++) this.#scores[i] = 0 - (isTotal ? totalUs[i]! : ttftUs[i]!);
    this.#rule = isTotal ? 'least true total time' : 'least true TTFT';
  }

  #scoreByHeadroom({ predictions, priority }: RequestFeatures, view: FleetView): void {
    const { headroom, shed } = this.#options;
    const packs = headroom === 'least';
    const { itlUs, ttftUs } = predictions;
    const targets = this.#targets;
    const scores = this.#scores;
    let eligible = 0;
    let meeting = 0;
    for (let i = 0; i < view.size; i++) {
      // The share of the targets that is left, the lesser of the two; negative where one is missed.
      const free = 1 - Math.max(ttftUs[i]! / targets.ttftUs, itlUs[i]! / targets.tpotUs);
      // Packing turns the order around among those that meet the target, and keeps them above the others.
      scores[i] = packs && free >= 0 ? 1 - free : free;
      if (view.eligible[i] === 0) continue;
      eligible++;
      if (free >= 0) meeting++;
    }
    if (meeting > 0) this.#rule = packs ? 'least headroom that meets the target' : 'most headroom';
    else this.#rule = 'no replica meets the target: least deficit';
    if (shed && meeting === 0 && eligible > 0 && priority < 0) this.refusal = NO_HEADROOM;
  }

  #explain(request: RequestFeatures, view: FleetView, why: Explanation, best: number, isPredicted: boolean): void {
    const { predictions } = request;
    explainScores(why, view, this.#scores);
    explainHits(why, view, request);
    explainFact(why, 'in flight', view, view.inFlight);
    if (!isPredicted) {
      explainRule(why, best, this.#best.tied, this.#rule);
      return;
    }
    explainMs(why, 'predicted TTFT ms', view, predictions.ttftUs);
    explainMs(why, 'predicted ITL ms', view, predictions.itlUs);
    explainFact(why, 'correction', view, predictions.factor);
    const tied = this.refusal === null ? this.#best.tied : 0;
    explainRule(why, best, tied, `${this.refusal ?? this.#rule}${correctionNote(request, view)}`);
  }
}

/** Whether the times of all candidates are known: otherwise they cannot be compared. */
function hasPredictions({ predictions: { ttftUs } }: RequestFeatures, view: FleetView): boolean {
  for (let i = 0; i < view.size; i++) if (view.eligible[i] === 1 && Number.isNaN(ttftUs[i]!)) return false;
  return true;
}

function explainMs(why: Explanation, name: string, view: FleetView, us: Float64Array): void {
  const column = why.facts.column(name, view.size);
  for (let i = 0; i < view.size; i++) column[i] = view.eligible[i] === 0 ? Number.NaN : us[i]! / 1000;
}

/** What an operator should know of how predictions were corrected. */
function correctionNote({ predictions: { correction } }: RequestFeatures, view: FleetView): string {
  let limited = 0;
  let off = 0;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] === 0) continue;
    if (correction[i] === CORRECTION.limited) limited++;
    if (correction[i] === CORRECTION.off) off++;
  }
  const limits = limited === 0 ? '' : `; correction at its limit on ${limited} of ${view.size} replicas`;
  return off === 0 ? limits : `${limits}; plain predictions on ${off} of ${view.size} replicas`;
}
