import { describe, expect, it } from 'vitest';
import { PLANTED, plantedSteps } from '../planted.fixture.js';
import { fitLoadedSteps } from './fit-step-runs.js';

const SLOWDOWN = { share: 0.1, tokenUs: 24, overUs: 50_000 };

describe('a slowdown under load', () => {
  it('is believed where steps show it', () => {
    const { fit, doubtful } = fitLoadedSteps(plantedSteps({ ...PLANTED, slowdown: SLOWDOWN }, 2000), 512);
    expect(doubtful).toBe(false);
    expect(Math.abs(fit.costs.slowdown!.share / SLOWDOWN.share - 1)).toBeLessThan(0.2);
  });

  it('is not fitted to noise', () => {
    for (const seed of [1, 2, 3, 4]) {
      for (const timed of [true, false]) {
        const { fit } = fitLoadedSteps(plantedSteps(PLANTED, 1000, { seed, timed, noise: 0.05 }), 512);
        expect(fit.costs, `seed ${seed}`).not.toHaveProperty('slowdown');
      }
    }
  });

  it('is doubted where few steps were seen in service, however well it explains them', () => {
    const few = plantedSteps({ ...PLANTED, slowdown: SLOWDOWN }, 200, { bare: 0, noise: 0 });
    const { fit, doubtful } = fitLoadedSteps(few, 512);
    expect([doubtful, fit.costs.slowdown]).toEqual([true, undefined]);
  });

  it('is not fitted where every step was timed alone', () => {
    const alone = plantedSteps({ ...PLANTED, slowdown: SLOWDOWN }, 200, { bare: 1 });
    const { fit, doubtful } = fitLoadedSteps(alone, 512);
    expect([doubtful, fit.costs.slowdown]).toEqual([false, undefined]);
  });
});
