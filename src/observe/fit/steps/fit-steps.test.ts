import { describe, expect, it } from 'vitest';
import type { StepCosts } from '../../../replica/latency/profile.js';
import { engineLatency, profileLatency } from '../../../replica/latency/profile-latency.js';
import { TokenCurve } from '../../../replica/latency/token-curve.js';
import { intervalOf } from '../fit-report.js';
import { PLANTED, plantedSteps } from '../planted.fixture.js';
import { fitSteps } from './fit-steps.js';
import { fitSharedContext } from './shared-context.js';
import { stepIntervals } from './step-confidence.js';
import { TERMS, UNIT_COSTS } from './step-terms.js';

const SETTINGS = { sharedContext: 0.75, launchedAbove: 512, slowsDown: true };
const request = { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 };
const HOST = { stepUs: 150, promptUs: 50, promptTokenUs: 0.2 };
const SLOWDOWN = { share: 0.1, tokenUs: 20, overUs: 50_000 };

/** The costs that are a number each. */
function costsPerSomething(costs: StepCosts): Record<string, number> {
  return Object.fromEntries(UNIT_COSTS.map((name) => [name, costs[name]]));
}

/** Relative errors by name. */
function relative<Name extends string>(found: Record<Name, number>, planted: Record<Name, number>) {
  return Object.fromEntries((Object.keys(planted) as Name[]).map((name) => [name, found[name] / planted[name] - 1]));
}

/** How much a GPU slows down, whatever its load is relative to. */
function slowdownOf({ slowdown }: StepCosts): number {
  return slowdown!.share * slowdown!.tokenUs ** 2;
}

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

  it("come back within 2 % with the host's work and a GPU that slows down, whether it ever rests or not", () => {
    const planted = { ...PLANTED, host: HOST, slowdown: SLOWDOWN };
    for (const rests of [0, 0.1]) {
      const { costs } = fitSteps(plantedSteps(planted, 6000, { noise: 0, timed: true, rests }), SETTINGS);
      const found = { ...errorsOf(costs, planted), ...relative(costs.host!, HOST) };
      for (const [name, error] of Object.entries(found)) expect(Math.abs(error), name).toBeLessThan(0.02);
      expect(Math.abs(slowdownOf(costs) / slowdownOf(planted) - 1)).toBeLessThan(0.02);
    }
  });

  it('show the slowdown of the GPU only together with its idle times', () => {
    const planted = { ...PLANTED, slowdown: SLOWDOWN };
    const samples = plantedSteps(planted, 4000, { noise: 0, timed: true, rests: 0.5 });
    const untold = samples.map(({ restUs: _, ...rest }) => rest);
    expect(Math.abs(slowdownOf(fitSteps(samples, SETTINGS).costs) / slowdownOf(planted) - 1)).toBeLessThan(0.02);
    expect(Math.abs(slowdownOf(fitSteps(untold, SETTINGS).costs) / slowdownOf(planted) - 1)).toBeGreaterThan(0.1);
  });

  it('come back in spite of single times of the GPU that are mistaken', () => {
    const planted = { ...PLANTED, host: HOST, slowdown: SLOWDOWN };
    const samples = plantedSteps(planted, 4000, { timed: true }).map((sample, i) =>
      i % 1333 === 1332 ? { ...sample, hostUs: sample.us - (i % 2) } : sample,
    );
    const { costs } = fitSteps(samples, SETTINGS);
    expect(Math.abs(slowdownOf(costs) / slowdownOf(planted) - 1)).toBeLessThan(0.1);
    expect(costs.slowdown!.share).toBeLessThan(0.2);
    for (const error of Object.values(relative(costs.host!, HOST))) expect(Math.abs(error)).toBeLessThan(0.1);
  });

  it("come back where only a few steps show the host's part", () => {
    const planted = { ...PLANTED, host: HOST };
    const [timed, whole] = [true, false].map((timed) => plantedSteps(planted, 1500, { timed, bare: 0.5 }));
    const { costs } = fitSteps([...whole!, ...timed!.slice(-20)], SETTINGS);
    const { stepUs } = profileLatency({ step: costs, request });
    const served = whole!.filter(({ inService }) => inService);
    const total = (us: (sample: (typeof served)[0]) => number) => served.reduce((sum, sample) => sum + us(sample), 0);
    // Not in it are the pauses.
    const measured = total(({ us }) => us) - 0.01 * served.length * 5000;
    expect(total(({ shape }) => stepUs(shape)) / measured).toBeCloseTo(1, 2);
    expect(costs.host!.stepUs).toBeGreaterThan(0);
  });

  it('come back within the range that is given, in spite of errors and pauses', () => {
    const planted = { ...PLANTED, host: HOST, launch: { aboveTokens: 512, us: 0, firstUs: 1500 }, slowdown: SLOWDOWN };
    const samples = plantedSteps(planted, 8000, { timed: true });
    const fit = fitSteps(samples, SETTINGS);
    const intervals = stepIntervals(fit);
    expect(intervals.map(({ name }) => name)).toEqual([...TERMS]);
    const { stepUs: hostStepUs, promptUs: hostPromptUs, promptTokenUs: hostPromptTokenUs } = HOST;
    const host = { hostStepUs, hostPromptUs, hostPromptTokenUs };
    // Full load is that of the quickest step, and the slowdown grows with its square.
    const slowdown = slowdownOf(planted) / fit.costs.slowdown!.tokenUs ** 2;
    const truth: Record<string, number> = { ...costsPerSomething(planted), ...host, firstUs: 1500, slowdown };
    for (const { name, value, low, high } of intervals) {
      // A range holds the truth 19 times out of 20; this one is half as wide again.
      const slack = 0.5 * (high! - low!);
      expect([name, low! - slack <= truth[name]!, truth[name]! <= high! + slack]).toEqual([name, true, true]);
      expect(high! - low!, name).toBeLessThan(0.5 * value);
    }
    // Pauses are one step in a hundred, of 5 ms: they do not change the other costs.
    const { stepUs } = engineLatency({ step: fit.costs, request });
    const trueUs = engineLatency({ step: { ...planted, launch: null }, request }).stepUs;
    const total = (us: typeof stepUs) => samples.reduce((sum, { shape }) => sum + us(shape), 0);
    expect(total(stepUs) / total(trueUs)).toBeCloseTo(1, 2);
  });

  it('include the time of launching large steps', () => {
    const planted = { ...PLANTED, launch: { aboveTokens: 512, us: 24_000, firstUs: 1500 } };
    const { costs } = fitSteps(plantedSteps(planted, 6000, { noise: 0.005 }), SETTINGS);
    expect(costs.launch!.aboveTokens).toBe(512);
    expect(costs.launch!.us / 24_000).toBeCloseTo(1, 1);
    expect(Math.abs(costs.launch!.firstUs / 1500 - 1)).toBeLessThan(0.15);
  });

  it('add up to the time that was measured, however much it scatters', () => {
    const scattered = plantedSteps(PLANTED, 4000, { noise: 0.3 });
    const { stepUs } = profileLatency({ step: fitSteps(scattered, SETTINGS).costs, request });
    const served = scattered.filter(({ inService }) => inService);
    const measured = served.reduce((sum, { us }) => sum + us, 0);
    const predicted = served.reduce((sum, { shape }) => sum + stepUs(shape), 0);
    // Not in it are the pauses: one step in a hundred, of 5 ms.
    expect(predicted / (measured - 0.01 * served.length * 5000)).toBeCloseTo(1, 2);
  });

  it('that no step contains are not identified, and have no range', () => {
    const decodes = plantedSteps(PLANTED, 2000).filter(({ shape }) => shape.prefills === 0);
    const ranges = new Map(stepIntervals(fitSteps(decodes, SETTINGS)).map((one) => [one.name, one]));
    expect(ranges.get('prefillPairUs')).toEqual({ name: 'prefillPairUs', value: 0, low: null, high: null });
    expect(ranges.get('firstUs')).toMatchObject({ low: null, high: null });
    expect(ranges.get('decodeContextUs')!.high).toBeGreaterThan(PLANTED.decodeContextUs);
  });

  it('that two kinds of steps cannot separate are not identified either', () => {
    expect(intervalOf('a', 2, 1, 20)).toEqual({ name: 'a', value: 2, low: 1, high: 20 });
    expect(intervalOf('a', 2, 0, 21)).toEqual({ name: 'a', value: 2, low: null, high: null });
    expect(intervalOf('a', 2, 0, Number.POSITIVE_INFINITY)).toMatchObject({ low: null });
  });

  it('include what shared context costs, where there is any', () => {
    const planted = { ...PLANTED, sharedContext: 0.4 };
    const { fit, measured } = fitSharedContext(plantedSteps(planted, 3000, { shared: 0.8, noise: 0.005 }), SETTINGS);
    expect([measured, Math.abs(fit.costs.sharedContext - 0.4) < 0.03]).toEqual([true, true]);
    expect(fitSharedContext(plantedSteps(planted, 500), SETTINGS)).toMatchObject({
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

  it('of the host and the GPU cannot be separated in service: their sum comes back', () => {
    const { costs } = fitSteps(plantedSteps(PLANTED, 3000, { noise: 0, bare: 0 }), SETTINGS);
    expect(costs.requestUs).toBe(0);
    expect(costs.mixedDecodeUs / (PLANTED.mixedDecodeUs + PLANTED.requestUs)).toBeCloseTo(1, 1);
    expect(costs.prefillRequestUs / (PLANTED.prefillRequestUs + PLANTED.requestUs)).toBeCloseTo(1, 1);
  });
});
