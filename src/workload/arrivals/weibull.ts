import { gammaFunction, weibull } from '../../kernel/distributions.js';
import type { ArrivalProcess } from './arrival-process.js';

/** The range of shapes that is searched for a coefficient of variation. */
const LEAST_SHAPE = 0.1;
const GREATEST_SHAPE = 100;

export const weibullArrivals: ArrivalProcess = {
  name: 'weibull',
  summary: 'bursts with a longer tail than gamma; Weibull gaps',
  cv: { min: 0.02, max: 400 },
  create(meanGapUs, { cv, shape, scaleUs }) {
    if (shape > 0) return { draw: (random) => weibull(random, shape, scaleUs) };
    const ownShape = weibullShape(cv);
    const ownScaleUs = meanGapUs / gammaFunction(1 + 1 / ownShape);
    return { draw: (random) => weibull(random, ownShape, ownScaleUs) };
  },
};

/** The shape with this coefficient of variation, by bisection: the greater the shape, the more regular the gaps. */
export function weibullShape(cv: number): number {
  let low = LEAST_SHAPE;
  let high = GREATEST_SHAPE;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    const mean = gammaFunction(1 + 1 / middle);
    const variation = Math.sqrt(gammaFunction(1 + 2 / middle) / (mean * mean) - 1);
    if (variation > cv) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
