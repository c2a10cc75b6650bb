import { expect, it } from 'vitest';
import { randomStream } from '../kernel/random-stream.js';
import {
  type DecisionInput,
  eligibleSlots,
  expectSame,
  forDecisions,
  MOST_REPLICAS,
  withOtherSignals,
} from './arbitraries.fixture.js';
import type { Scorer } from './contract.js';

const UNTOUCHED = 42;

/** What every scorer promises. */
export function scorerContract(scorer: Scorer): void {
  /** The scores for each input in turn, each request placed on its best replica. */
  function scores(inputs: readonly DecisionInput[]): number[][] {
    const instance = scorer.create({ random: randomStream(7, 'scoring'), replicas: MOST_REPLICAS });
    return inputs.map(({ view, request }) => {
      const scores = new Float64Array(MOST_REPLICAS).fill(UNTOUCHED);
      instance.score(request, view, scores);
      const eligible = eligibleSlots(view);
      const best = Math.max(...eligible.map((i) => scores[i]!));
      if (eligible.length > 0) instance.placed?.(request, eligible.find((i) => scores[i] === best)!, view);
      return Array.from(scores);
    });
  }

  it('scores eligible replicas within [0, 1] and does not write other slots', () => {
    forDecisions((inputs) => {
      scores(inputs).forEach((scores, q) => {
        const eligible = eligibleSlots(inputs[q]!.view);
        scores.forEach((score, i) => {
          if (eligible.includes(i)) expect(score >= 0 && score <= 1).toBe(true);
          else expect(score).toBe(UNTOUCHED);
        });
      });
    });
  });

  it('gives equal scores for equal inputs and does not change its inputs', () => {
    forDecisions((inputs) => {
      const before = structuredClone(inputs);
      expectSame(scores(inputs), scores(inputs));
      expectSame(inputs, before);
    });
  });

  it('depends on no signal that it does not declare', () => {
    forDecisions((inputs) => {
      expectSame(scores(inputs.map((input) => withOtherSignals(input, scorer.reads))), scores(inputs));
    });
  });

  it('ignores replicas that are not eligible', () => {
    forDecisions((inputs) => {
      const changed = structuredClone(inputs);
      for (const { view, request } of changed) {
        for (let i = 0; i < MOST_REPLICAS; i++) {
          if (i < view.size && view.eligible[i] !== 0) continue;
          for (const column of [view.queued, view.running, view.inFlight]) column[i] = 99;
          view.kvUsed[i] = 1;
          request.routedBlocks[i] = request.blockCount;
          request.cachedBlocks[i] = request.blockCount;
        }
      }
      expectSame(scores(changed), scores(inputs));
    });
  });
}
