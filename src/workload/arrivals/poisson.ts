import { exponential } from '../../kernel/distributions.js';
import type { ArrivalProcess } from './arrival-process.js';

export const poissonArrivals: ArrivalProcess = {
  name: 'poisson',
  summary: 'independent of each other: exponential gaps, a coefficient of variation of 1',
  cv: null,
  create(meanGapUs) {
    return { draw: (random) => exponential(random, meanGapUs) };
  },
};
