import { expect, test } from 'vitest';
import { similarity, textVector } from './text-vector.js';

test('a vector has length 1 and is the same every time', () => {
  for (const text of ['hello', 'the quick brown fox', '\u00fcber', '!?', '']) {
    const vector = textVector(text, 100);
    expect(vector.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1, 5);
    expect(textVector(text, 100)).toEqual(vector);
  }
});

test('texts with words in common are closer', () => {
  expect(similarity('a red car', 'a red car')).toBeCloseTo(1, 5);
  expect(similarity('a red car', 'the RED car is fast')).toBeGreaterThan(similarity('a red car', 'cold blue water'));
});
