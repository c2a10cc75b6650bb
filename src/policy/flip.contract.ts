import { expect, it } from 'vitest';
import { randomStream } from '../kernel/random-stream.js';
import { type DecisionInput, expectSame, forDecisions, MOST_REPLICAS } from './arbitraries.fixture.js';
import type { RoutingPolicy } from './contract.js';
import { createExplanation, resetExplanation } from './explanation.js';
import { findFlip, type PastPick } from './flip/find-flip.js';
import { type FlipSignal, flipSignals } from './flip/flip-signals.js';
import { Repicker } from './flip/repicker.js';
import type { LatencyPredictions } from './latency-predictor.js';
import { policyOptions } from './policy-options.js';

/** What every routing policy promises about picks that are made again. */
export function flipContract(policy: RoutingPolicy, given: unknown): void {
  const options = policyOptions(policy, given, 'test');
  const reads = policy.reads(options);

  function newRepicker(): Repicker {
    const random = randomStream(99, 'other');
    return new Repicker(policy.create(options, { random, replicas: MOST_REPLICAS }), random, MOST_REPLICAS);
  }

  /** Decides about all inputs in turn, and calls back after each pick, before its placement. */
  function decide(inputs: readonly DecisionInput[], picked: (pick: PastPick) => void): void {
    const random = randomStream(7, 'routing');
    const picker = policy.create(options, { random, replicas: MOST_REPLICAS });
    const why = createExplanation(MOST_REPLICAS);
    for (const { request, view } of inputs) {
      resetExplanation(why);
      random.save(why.state.random);
      const chosen = picker.pick(request, view, why);
      picked({ reads, request, view, state: structuredClone(why.state), chosen });
      if (chosen >= 0) picker.placed?.(request, chosen, view);
    }
  }

  it('makes a pick again from its state alone, also later, without the request body', () => {
    forDecisions((inputs) => {
      const picks: PastPick[] = [];
      decide(inputs, (pick) => picks.push(pick));
      // One repicker for all, in another order: no pick leaves anything for the next.
      const repicker = newRepicker();
      for (const { chosen, request, state, view } of [...picks].reverse()) {
        const later = { ...request, body: null };
        expect(repicker.pick(later, view, state)).toBe(chosen);
        expect(repicker.pick(later, view, state)).toBe(chosen);
      }
    }, 30);
  });

  it('names the smallest change of one signal that flips a pick, or none, as trying every value does', () => {
    forDecisions((inputs) => {
      // Short prompts and times: all values of all signals can be tried.
      const short = inputs.slice(0, 2).map(({ request, view }) => ({
        view: { ...view, size: Math.min(view.size, 4) },
        request: { ...request, inputTokens: request.inputTokens % 40, predictions: soonOnly(request.predictions) },
      }));
      const repicker = newRepicker();
      decide(short, (pick) => {
        const before = structuredClone(pick);
        const found = findFlip(pick, repicker)!;
        expectSame(pick, before);
        expect(found.isExhaustive).toBe(true);
        const smallest = tryAll(pick, repicker);
        expect(found.flip === null).toBe(smallest === null);
        if (found.flip === null) return;
        const { chosen, from, replica, signal, to } = found.flip;
        const { column, scale } = flipSignals(reads, pick.request, pick.view).find(({ name }) => name === signal)!;
        expect(column[replica]).toBe(from);
        expect(Math.abs(to - from) / scale).toBeCloseTo(smallest!, 9);
        column[replica] = to;
        expect(repicker.pick(pick.request, pick.view, pick.state)).toBe(chosen);
        expect(chosen).not.toBe(pick.chosen);
        column[replica] = from;
      });
    }, 20);
  });
}

/** Predictions of at most 20 ms. */
function soonOnly(predictions: LatencyPredictions): LatencyPredictions {
  const copy = structuredClone(predictions);
  for (const column of [copy.ttftUs, copy.itlUs, copy.promptUs]) {
    for (let i = 0; i < column.length; i++) column[i]! %= 20_000;
  }
  return copy;
}

/** The size of the smallest change that flips a pick, by trying all values of all signals; null for none. */
function tryAll({ chosen, reads, request, state, view }: PastPick, repicker: Repicker): number | null {
  let smallest: number | null = null;
  for (const { column, scale, ...signal } of flipSignals(reads, request, view)) {
    for (let slot = 0; slot < view.size; slot++) {
      const from = column[slot]!;
      // A prediction that is not known has no other values.
      if (Number.isNaN(from)) continue;
      for (const value of valuesOf(signal)) {
        const size = Math.abs(value - from) / scale;
        if (smallest !== null && size >= smallest) continue;
        column[slot] = value;
        if (repicker.pick(request, view, state) !== chosen) smallest = size;
      }
      column[slot] = from;
    }
  }
  return smallest;
}

function valuesOf({ greatest, least, perUnit }: Omit<FlipSignal, 'column' | 'scale'>): number[] {
  return Array.from({ length: (greatest - least) * perUnit + 1 }, (_, i) => least + i / perUnit);
}
