import { describe, expect, it } from 'vitest';
import { emptyShape } from '../../../replica/latency/batch-shape.js';
import { loadMeasure, loadsOf, stepRowsOf } from './step-rows.js';
import type { StepSample } from './step-sample.js';

function step(decodes: number, us: number, changes: Partial<StepSample> = {}): StepSample {
  const shape = { ...emptyShape(), decodes, scheduled: decodes };
  return { shape, us, count: 1, inService: true, firstOfSize: false, ...changes };
}

describe('the load of a GPU', () => {
  it('is full when it computes as many tokens as in the quickest steps', () => {
    const steps = [step(10, 1000), step(100, 5000), step(100, 5100), step(1, 200)];
    expect(loadMeasure(steps)).toEqual({ tokenUs: 51, overUs: 50_000 });
    // The time of the host is not the GPU's.
    expect(loadMeasure([step(10, 1000, { hostUs: 600 })]).tokenUs).toBe(40);
  });

  it('is not measured by the one step in a thousand that may be a mistake, nor by steps of nothing', () => {
    const steps = Array.from({ length: 2000 }, (_, i) => step(100, 5000 + i));
    const mistaken = [step(100, 5000, { hostUs: 5000 }), step(100, 1)];
    expect(loadMeasure([...steps, ...mistaken]).tokenUs).toBeCloseTo(50, 1);
    expect(loadMeasure([...steps, step(0, 700)]).tokenUs).toBeCloseTo(50, 1);
  });

  it('comes from the previous steps in service, and from the step itself where it was timed alone', () => {
    const measure = { tokenUs: 50, overUs: 5000 };
    const samples = [step(50, 5000), step(100, 5000, { inService: false }), step(100, 5000), step(0, 5000)];
    const half = 0.5 * (1 - Math.exp(-1));
    const loads = loadsOf(samples, measure);
    expect([loads[0], loads[1], loads[2]]).toEqual([0, 1, half]);
    expect(loads[3]).toBeCloseTo(Math.exp(-1) * half + (1 - Math.exp(-1)), 12);
  });
});

describe('the load of a GPU that rests', () => {
  it('falls with the time that passes, and is none at the start of a run', () => {
    const measure = { tokenUs: 50, overUs: 5000 };
    const runs = [
      step(100, 5000, { restUs: Number.POSITIVE_INFINITY }),
      step(100, 5000),
      step(100, 5000, { restUs: 10_000 }),
      step(100, 5000, { restUs: Number.POSITIVE_INFINITY }),
    ];
    const [first, second, rested, ofAnother] = loadsOf(runs, measure);
    expect([first, ofAnother]).toEqual([0, 0]);
    expect(second).toBeCloseTo(1 - Math.exp(-1), 12);
    expect(rested).toBeCloseTo((1 - Math.exp(-2)) * Math.exp(-2), 12);
  });
});

describe('what costs are fitted to', () => {
  const measure = { tokenUs: 50, overUs: 5000 };

  it('is the step, or its two parts where they are known', () => {
    const samples = [step(50, 5000, { hostUs: 1000 }), step(100, 5000)];
    expect(stepRowsOf(samples, measure).map(({ part, us, shareOf }) => [part, us, shareOf])).toEqual([
      ['gpu', 4000, 0],
      ['whole', 5000, 1],
      ['host', 1000, 0],
    ]);
    expect(stepRowsOf(samples, measure)[1]!.load2).toBeCloseTo((0.5 * (1 - Math.exp(-1))) ** 2, 12);
  });

  it('knows nothing of load when no step was followed by another', () => {
    const alone = [step(50, 5000, { inService: false }), step(100, 5000, { inService: false })];
    expect(stepRowsOf(alone, measure).map(({ load2 }) => load2)).toEqual([0, 0]);
    const served = [...alone, step(1, 100)];
    expect(stepRowsOf(served, measure).map(({ load2 }) => load2)).toEqual([0.25, 1, 0]);
    expect(stepRowsOf(served, null).map(({ load2 }) => load2)).toEqual([0, 0, 0]);
  });
});
