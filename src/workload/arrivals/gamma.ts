import { gamma } from '../../kernel/distributions.js';
import type { ArrivalProcess } from './arrival-process.js';

export const gammaArrivals: ArrivalProcess = {
  name: 'gamma',
  summary: 'bursts above a coefficient of variation of 1, regular below; gamma gaps',
  cv: { min: 0.01, max: 100 },
  create(meanGapUs, { cv, shape, scaleUs }) {
    if (shape > 0) return { draw: (random) => gamma(random, shape, scaleUs) };
    const ownShape = 1 / (cv * cv);
    const ownScaleUs = meanGapUs * cv * cv;
    return { draw: (random) => gamma(random, ownShape, ownScaleUs) };
  },
};
