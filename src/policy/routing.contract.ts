import fc from 'fast-check';
import { expect, it } from 'vitest';
import { randomStream } from '../kernel/random-stream.js';
import {
  type DecisionInput,
  decisionInputs,
  eligibleSlots,
  MOST_REPLICAS,
  withOtherSignals,
} from './arbitraries.fixture.js';
import type { RoutingPolicy } from './contract.js';
import { createExplanation, type Explanation, type NamedColumns, resetExplanation } from './explanation.js';
import { createFleetView } from './fleet-view.js';
import { policyOptions } from './policy-options.js';
import { createRequestFeatures } from './request-features.js';
import { MOST_SESSIONS } from './routing/parts/session-affinity.js';

/** More sessions than a policy may remember: each is forgotten before its next request. */
const SESSIONS = Array.from({ length: MOST_SESSIONS * 1.5 }, (_, i) => `session ${i}`);

/** What every routing policy promises, with any options. */
export function routingContract(policy: RoutingPolicy, given: unknown): void {
  const options = policyOptions(policy, given, 'test');

  /** Decides with a new picker for all inputs in turn, and places each choice. */
  function responses(
    inputs: readonly DecisionInput[],
    explained?: (why: Explanation, input: DecisionInput, pick: number) => void,
  ) {
    const random = randomStream(7, 'routing');
    const picker = policy.create(options, { random, replicas: MOST_REPLICAS });
    const why = createExplanation(MOST_REPLICAS);
    let refused = 0;
    const picks = inputs.map((input) => {
      resetExplanation(why);
      const pick = picker.pick(input.request, input.view, explained === undefined ? undefined : why);
      explained?.(why, input, pick);
      if (pick >= 0) picker.placed?.(input.request, pick, input.view);
      else if (picker.refusal != null) refused++;
      return pick;
    });
    return { picks, refused, random: random.state() };
  }

  it('picks an eligible replica, and none exactly when none is eligible or it refuses the request', () => {
    fc.assert(
      fc.property(decisionInputs, (inputs) => {
        const { picks, refused } = responses(inputs);
        let none = 0;
        for (const [i, { view }] of inputs.entries()) {
          const eligible = eligibleSlots(view);
          if (eligible.length === 0) expect(picks[i]).toBe(-1);
          else if (picks[i] === -1) none++;
          else expect(eligible).toContain(picks[i]);
        }
        expect(none).toBe(refused);
      }),
    );
  });

  it('gives equal results for equal inputs, explained or not, and does not change its inputs', () => {
    fc.assert(
      fc.property(decisionInputs, (inputs) => {
        const before = structuredClone(inputs);
        const first = responses(inputs);
        expect(responses(inputs)).toEqual(first);
        expect(responses(inputs, () => {})).toEqual(first);
        expect(inputs).toEqual(before);
      }),
    );
  });

  it('depends on no signal that it does not declare', () => {
    const declared = policy.reads(options);
    fc.assert(
      fc.property(decisionInputs, (inputs) => {
        expect(responses(inputs.map((input) => withOtherSignals(input, declared)))).toEqual(responses(inputs));
      }),
    );
  });

  it('explains itself consistently', () => {
    fc.assert(
      fc.property(decisionInputs, (inputs) => {
        responses(inputs, (why, { view }, pick) => {
          expect(why.rule).not.toBe('');
          const eligible = eligibleSlots(view);
          expect(why.tied).toBeLessThanOrEqual(eligible.length);
          for (const fact of [...columnsOf(why.terms), ...columnsOf(why.facts)]) {
            for (let i = 0; i < view.size; i++) expect(Number.isNaN(fact[i]!)).toBe(!eligible.includes(i));
          }
          for (const slot of why.removed.keys()) expect(eligible).toContain(slot);
          if (!why.scored) return;
          const scores = Array.from(why.scores.subarray(0, view.size));
          scores.forEach((score, i) => {
            expect(Number.isNaN(score)).toBe(!eligible.includes(i));
          });
          if (pick < 0) return;
          if (why.tied > 0) {
            const best = Math.max(...eligible.map((i) => scores[i]!));
            expect(scores[pick]).toBe(best);
            expect(why.tied).toBeLessThanOrEqual(eligible.filter((i) => scores[i] === best).length);
          }
          if (why.terms.size === 0) return;
          const parts = columnsOf(why.terms);
          for (const i of eligible) expect(parts.reduce((sum, part) => sum + part[i]!, 0)).toBeCloseTo(scores[i]!, 12);
        });
      }),
    );
  });

  it('holds a bounded number of entries after a million requests', () => {
    const picker = policy.create(options, { random: randomStream(7, 'routing'), replicas: MOST_REPLICAS });
    if (picker.placed === undefined) {
      // A picker that does not learn of placements holds no state.
      expect(picker.remembered).toBeUndefined();
      return;
    }
    const view = createFleetView(MOST_REPLICAS);
    const request = createRequestFeatures(MOST_REPLICAS);
    picker.pick(request, view);
    for (let i = 0; i < 1_000_000; i++) {
      request.session = SESSIONS[i % SESSIONS.length]!;
      picker.placed(request, i % MOST_REPLICAS, view);
    }
    expect(picker.remembered!()).toBeLessThanOrEqual(MOST_SESSIONS);
  });
}

function columnsOf(columns: NamedColumns): Float64Array[] {
  return columns.names().map((_, i) => columns.at(i));
}
