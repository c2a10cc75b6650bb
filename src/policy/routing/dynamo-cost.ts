import type { RandomStream } from '../../kernel/random-stream.js';
import { field, number } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { explainHits, explainNegated, explainRule } from '../explanation.js';
import type { FleetView } from '../fleet-view.js';
import { hitTokens } from '../request-features.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';
import { blockSizeOption } from './parts/block-size.js';

interface DynamoOptions {
  overlap_score_weight: number;
  temperature: number;
  tie_break: TieBreak;
  block_size: number;
}

export const dynamoCost: RoutingPolicy<DynamoOptions> = {
  name: 'dynamo-cost',
  summary: "Dynamo's cost: scaled blocks to compute plus blocks in use; the least, or drawn by a softmax over costs.",
  goodFor:
    'Comparing with a Dynamo router: prompt work and memory in one sum, with one weight between time to first token and time between tokens.',
  notFor:
    'Fleets whose blocks in use differ for good reasons, such as long sessions: a block in use counts as much as a block to compute.',
  formula:
    'least overlap_score_weight * (pendingPrefillTokens + input - hit) / block + ongoingTokens / block; with a temperature drawn with weight exp(-cost / (max - min) / temperature)',
  options: {
    overlap_score_weight: field(number(0), {
      default: 1,
      help: 'scale of the blocks to compute',
      search: { from: 0.125, to: 8, log: true },
    }),
    temperature: field(number(0), {
      default: 0,
      help: '0: the least cost; above: drawn, the more evenly the higher it is',
    }),
    tie_break: tieBreakOption,
    block_size: blockSizeOption(0),
  },
  blockSize: ({ block_size }) => block_size,
  reads: () => ['pendingPrefillTokens', 'ongoingTokens', 'prefixIndex'],
  create({ overlap_score_weight, temperature, tie_break }, { random, replicas }) {
    const scores = new Float64Array(replicas);
    const best = new BestChoice(tie_break, random);
    const softmax = new Softmax(temperature, random, replicas);
    return {
      pick(request, view, why) {
        for (let i = 0; i < view.size; i++) {
          const uncached = view.pendingPrefillTokens[i]! + request.inputTokens - hitTokens(request, i);
          scores[i] = 0 - (overlap_score_weight * uncached + view.ongoingTokens[i]!) / request.blockSize;
        }
        const drawn = temperature > 0;
        const least = best.among(view, scores);
        const chosen = drawn && least >= 0 ? softmax.draw(view, scores) : least;
        if (why !== undefined) {
          explainNegated(why, 'cost', view, scores);
          explainHits(why, view, request);
          explainRule(why, chosen, drawn ? 0 : best.tied, drawn ? 'drawn by cost' : 'least cost');
        }
        return chosen;
      },
    };
  },
};

/** Draws a replica with a probability that grows with its score, relative to the range of scores. */
class Softmax {
  readonly #temperature: number;
  readonly #random: RandomStream;
  readonly #weights: Float64Array;

  constructor(temperature: number, random: RandomStream, replicas: number) {
    this.#temperature = temperature;
    this.#random = random;
    this.#weights = new Float64Array(replicas);
  }

  /** At least one replica must be eligible. */
  draw(view: FleetView, scores: Float64Array): number {
    let max = Number.NEGATIVE_INFINITY;
    let min = Number.POSITIVE_INFINITY;
    for (let i = 0; i < view.size; i++) {
      if (view.eligible[i] === 0) continue;
      max = Math.max(max, scores[i]!);
      min = Math.min(min, scores[i]!);
    }
    const scale = max === min ? 1 : (max - min) * this.#temperature;
    let sum = 0;
    for (let i = 0; i < view.size; i++) {
      this.#weights[i] = view.eligible[i] === 0 ? 0 : Math.exp((scores[i]! - max) / scale);
      sum += this.#weights[i]!;
    }
    let left = this.#random.next() * sum;
    let chosen = -1;
    for (let i = 0; i < view.size && left >= 0; i++) {
      if (view.eligible[i] === 0) continue;
      chosen = i;
      left -= this.#weights[i]!;
    }
    return chosen;
  }
}
