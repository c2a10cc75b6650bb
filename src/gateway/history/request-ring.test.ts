import { expect, it } from 'vitest';
import { finishedRequest } from '../request/finished-request.fixture.js';
import { RequestRing } from './request-ring.js';

const all = () => true;

it('keeps the last requests and returns the latest first, page by page', () => {
  const ring = new RequestRing(4);
  for (let i = 1; i <= 6; i++) ring.ended(finishedRequest({ id: `r${i}` }));
  expect(ring.size).toBe(4);
  const ids = (number: number, count: number) => ring.before(number, count, all).map(({ id }) => id);
  expect(ids(Number.POSITIVE_INFINITY, 2)).toEqual(['r6', 'r5']);
  expect(ids(5, 9)).toEqual(['r4', 'r3']);
  expect(ids(3, 9)).toEqual([]);
  expect(ids(1, 9)).toEqual([]);
});

it('returns and counts those that are wanted', () => {
  const ring = new RequestRing(10);
  for (let i = 0; i < 6; i++) ring.ended(finishedRequest({ id: `r${i}`, model: i % 2 === 0 ? 'even' : 'odd' }));
  const isEven = ({ model }: { model: string }) => model === 'even';
  expect(ring.before(Number.POSITIVE_INFINITY, 2, isEven).map(({ id }) => id)).toEqual(['r4', 'r2']);
  expect(ring.count(isEven)).toBe(3);
});

it('keeps no text of a request: no session, no tenant, no blocks', () => {
  const ring = new RequestRing(1);
  ring.ended(finishedRequest({ session: 'planted-1', tenant: 'planted-2', recordedBlocks: 'planted-3' }));
  expect(JSON.stringify(ring.before(Number.POSITIVE_INFINITY, 1, all))).not.toContain('planted');
});
