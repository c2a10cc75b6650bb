import { describe, expect, it } from 'vitest';
import type { StepCosts } from '../../replica/latency/profile.js';
import { profileLatency } from '../../replica/latency/profile-latency.js';
import { TokenCurve } from '../../replica/latency/token-curve.js';
import { fitSteps } from './fit-steps.js';
import { PLANTED, plantedSteps } from './planted.contract.js';
import { fitSharedContext } from './shared-context.js';
import { stepIntervals } from './step-confidence.js';
import { UNIT_COSTS } from './step-terms.js';

const SETTINGS = { sharedContext: 0.75, launchedAbove: 512 };
const request = { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 };
/** Relative errors of all costs, curves at their knots included. */
function errorsOf(found: StepCosts, planted: StepCosts): Record<string, number> {
  const errors: Record<string, number> = {};
  for (const name of UNIT_COSTS) errors[name] = found[name] / planted[name] - 1;
  for (const curve of ['decodeOnly', 'withPrefill'] as const) {
    const [ours, theirs] = [new TokenCurve(found[curve]), new TokenCurve(planted[curve])];
    for (const tokens of [64, 128, 256]) errors[`${curve} ${tokens}`] = ours.at(tokens) / theirs.at(tokens) - 1;
  }
  return errors;
}

describe('costs planted in steps', () => {
  it('come back to the last digits when nothing disturbs them', () => {
    const { costs, loss } = fitSteps(plantedSteps(PLANTED, 4000, { noise: 0 }), SETTINGS);
    for (const [name, error] of Object.entries(errorsOf(costs, PLANTED))) {
      expect(Math.abs(error), name).toBeLessThan(0.02);
    }
    // Steps are whole microseconds.
    expect(loss / 4000).toBeLessThan(1e-6);
    expect(costs.launch).toBeNull();
  });

  it('come back within the range that is given, in spite of errors and pauses', () => {
    const samples = plantedSteps(PLANTED, 8000);
    const fit = fitSteps(samples, SETTINGS);
    const intervals = stepIntervals(fit, samples);
    expect(intervals.map(({ name }) => name)).toEqual([...UNIT_COSTS]);
    for (const { name, value, low, high } of intervals) {
      const planted = PLANTED[name as (typeof UNIT_COSTS)[number]];
      // A range holds the truth 19 times out of 20; this one is half as wide again.
      const slack = 0.5 * (high - low);
      expect([name, low - slack <= planted, planted <= high + slack]).toEqual([name, true, true]);
      expect(high - low, name).toBeLessThan(0.5 * value);
    }
    // Pauses are one step in a hundred, of 5 ms: they do not move the rest.
    const { stepUs } = profileLatency({ step: fit.costs, request });
    const planted = profileLatency({ step: PLANTED, request }).stepUs;
    const total = (us: typeof stepUs) => samples.reduce((sum, { shape }) => sum + us(shape), 0);
    expect(total(stepUs) / total(planted)).toBeCloseTo(1, 2);
  });

  it('include the time of launching large steps', () => {
    const planted = { ...PLANTED, launch: { aboveTokens: 512, us: 24_000 } };
    const { costs } = fitSteps(plantedSteps(planted, 6000, { noise: 0.005 }), SETTINGS);
    expect(costs.launch!.aboveTokens).toBe(512);
    expect(costs.launch!.us / 24_000).toBeCloseTo(1, 1);
  });

  it('include what shared context costs, where there is any', () => {
    const planted = { ...PLANTED, sharedContext: 0.4 };
    const { fit, measured } = fitSharedContext(plantedSteps(planted, 3000, { shared: 0.8, noise: 0.005 }), 512);
    expect([measured, Math.abs(fit.costs.sharedContext - 0.4) < 0.03]).toEqual([true, true]);
    expect(fitSharedContext(plantedSteps(planted, 500), 512)).toMatchObject({
      measured: false,
      fit: { costs: { sharedContext: 0.75 } },
    });
  });

  it('are found where only some kinds of steps were seen', () => {
    const decodes = plantedSteps(PLANTED, 2000, { noise: 0 }).filter(({ shape }) => shape.prefills === 0);
    const { costs } = fitSteps(decodes, SETTINGS);
    expect(costs.decodeContextUs / PLANTED.decodeContextUs).toBeCloseTo(1, 3);
    expect([costs.mixedContextUs, costs.prefillPairUs]).toEqual([0, 0]);
  });

  it('of the host and the GPU cannot be told apart in service: their sum comes back', () => {
    const { costs } = fitSteps(plantedSteps(PLANTED, 3000, { noise: 0, bare: 0 }), SETTINGS);
    expect(costs.requestUs).toBe(0);
    expect(costs.mixedDecodeUs / (PLANTED.mixedDecodeUs + PLANTED.requestUs)).toBeCloseTo(1, 1);
    expect(costs.prefillRequestUs / (PLANTED.prefillRequestUs + PLANTED.requestUs)).toBeCloseTo(1, 1);
  });
});
