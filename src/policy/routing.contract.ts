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
    forDecisions((inputs) => {
      const { picks, refused } = responses(inputs);
      let none = 0;
      for (const [i, { view }] of inputs.entries()) {
        const eligible = eligibleSlots(view);
        if (eligible.length === 0) expect(picks[i]).toBe(-1);
        else if (picks[i] === -1) none++;
        else expect(eligible).toContain(picks[i]);
      }
      expect(none).toBe(refused);
    });
  });

  it('gives equal results for equal inputs, explained or not, and does not change its inputs', () => {
    forDecisions((inputs) => {
      const before = structuredClone(inputs);
      const first = responses(inputs);
      expectSame(responses(inputs), first);
      expectSame(
        responses(inputs, () => {}),
        first,
      );
      expectSame(inputs, before);
    });
  });

  it('depends on no signal that it does not declare', () => {
    const declared = policy.reads(options);
    forDecisions((inputs) => {
      expectSame(responses(inputs.map((input) => withOtherSignals(input, declared))), responses(inputs));
    });
  });

  it('explains itself consistently', () => {
    forDecisions((inputs) => {
      responses(inputs, (why, { view }, pick) => {
        expect(why.rule).not.toBe('');
        const eligible = eligibleSlots(view);
        expect(why.tied).toBeLessThanOrEqual(eligible.length);
        const columns = [...columnsOf(why.terms), ...columnsOf(why.facts), ...(why.scored ? [why.scores] : [])];
        for (const column of columns) expectSame(knownSlots(column, view.size), eligible);
        for (const slot of why.removed.keys()) expect(eligible).toContain(slot);
        if (!why.scored || pick < 0) return;
        const scores = Array.from(why.scores.subarray(0, view.size));
        if (why.tied > 0) {
          const best = Math.max(...eligible.map((i) => scores[i]!));
          expect(scores[pick]).toBe(best);
          expect(why.tied).toBeLessThanOrEqual(eligible.filter((i) => scores[i] === best).length);
        }
        if (why.terms.size === 0) return;
        const parts = columnsOf(why.terms);
        for (const i of eligible) {
          const sum = parts.reduce((all, part) => all + part[i]!, 0);
          if (sum !== scores[i]) expect(sum).toBeCloseTo(scores[i]!, 12);
        }
      });
    });
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

/** The slots for which there is a value. */
function knownSlots(column: Float64Array, size: number): number[] {
  return Array.from({ length: size }, (_, i) => i).filter((i) => !Number.isNaN(column[i]!));
}

function columnsOf(columns: NamedColumns): Float64Array[] {
  return columns.names().map((_, i) => columns.at(i));
}
