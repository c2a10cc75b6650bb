import { expect, it } from 'vitest';
import { copyScalars, createRequestFeatures } from './request-features.js';

it('copies every feature but the body and the arrays', () => {
  const from = createRequestFeatures(1);
  const scalars = Object.entries(from).filter(([, value]) => typeof value === 'number' || typeof value === 'string');
  expect(scalars.length).toBeGreaterThan(5);
  for (const [name, value] of scalars) {
    Object.assign(from, { [name]: typeof value === 'number' ? value + 7 : `${value}x` });
  }
  const to = createRequestFeatures(1);
  copyScalars(from, to);
  for (const [name] of scalars) expect([name, to[name as 'nowUs']]).toEqual([name, from[name as 'nowUs']]);
});
