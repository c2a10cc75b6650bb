import { expect, it } from 'vitest';
import { flipText } from './flip-text.js';

const CHANGE = { replica: 'a', signal: 'queued', from: 1, to: 4, chosen: 'b' };
const searched = { change: null, bounds: { queued: [0, 256], kvUsed: [0, 1] }, replicas: 3, eligible: 3 } as const;

it('names the signal, the replica, both values and the other choice', () => {
  expect(flipText({ ...searched, change: CHANGE, exhaustive: true }, 'lmetric')).toBe('queued of a 4 instead of 1: b');
});

it('says that a change leads to a refusal', () => {
  expect(flipText({ ...searched, change: { ...CHANGE, chosen: null }, exhaustive: true }, 'lmetric')).toBe(
    'queued of a 4 instead of 1: refused',
  );
  expect(flipText({ ...searched, eligible: 0, replicas: 0, exhaustive: true }, 'lmetric')).toBe(
    'nothing: no replica was a candidate',
  );
});

it('says in which part of a large fleet it searched', () => {
  const large = { ...searched, replicas: 16, eligible: 1000, exhaustive: false };
  expect(flipText({ ...large, change: CHANGE }, 'lmetric')).toBe(
    'queued of a 4 instead of 1: b (smallest change found in 16 of 1000 replicas)',
  );
  expect(flipText(large, 'lmetric')).toBe(
    'none within bounds (queued 0 to 256, KV cache in use 0 % to 100 %, 16 of 1000 replicas, some values)',
  );
});

it('says that there is none within bounds, and which', () => {
  expect(flipText({ ...searched, exhaustive: true }, 'lmetric')).toBe(
    'none within bounds (queued 0 to 256, KV cache in use 0 % to 100 %)',
  );
  expect(flipText({ ...searched, bounds: {}, exhaustive: true }, 'random')).toBe(
    'none within bounds: random reads no signal of replicas',
  );
  expect(flipText({ ...searched, replicas: 1, eligible: 1, exhaustive: true }, 'lmetric')).toBe(
    'nothing: no other replica was a candidate',
  );
  expect(flipText(null, 'lmetric')).toBe('unknown: the decision cannot be repeated');
  expect(flipText(null, 'lmetric', true)).toBe(
    'not known: the gateway had no time to search it before the request left its memory',
  );
});
