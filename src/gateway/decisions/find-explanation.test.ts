import { expect, it } from 'vitest';
import type { DecisionRecord } from './decision-ring.js';
import { findExplanation } from './find-explanation.js';
import type { RefusalRecord } from './refusal-ring.js';

const decided = (atUs: number) =>
  ({ id: 'q', atUs, replicas: [], flip: null }) as unknown as DecisionRecord & { flip: null };
const refused = (arrivedUs: number, atUs: number) => ({ id: 'q', arrivedUs, atUs }) as unknown as RefusalRecord;

const find = (decision?: DecisionRecord & { flip: null }, refusal?: RefusalRecord) =>
  findExplanation({ explain: () => decision }, { find: () => refusal }, 'q');

it('is what is recorded of a request', () => {
  const [decision, refusal] = [decided(5), refused(1, 9)];
  expect(find()).toBeUndefined();
  expect(find(decision)).toBe(decision);
  expect(find(undefined, refusal)).toEqual({ id: 'q', refused: refusal });
});

it('is both where a decision found no replica and the request was refused', () => {
  const [decision, refusal] = [decided(5), refused(1, 9)];
  expect(find(decision, refusal)).toEqual({ ...decision, refused: refusal });
});

it('is the last of two requests with the same id', () => {
  const refusal = refused(10, 11);
  expect(find(decided(5), refusal)).toEqual({ id: 'q', refused: refusal });
  expect(find(decided(12), refusal)).toEqual(decided(12));
});
