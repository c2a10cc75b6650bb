import { expect, test } from 'vitest';
import { estimateTokens } from './prompt-bytes.js';

test.each([
  ['', 0],
  ['a', 1],
  ['abcd', 1],
  ['abcde', 2],
  ['\u00fc\u00fc', 1],
  ['\u{1f600}a', 2],
])('%j is %i tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});
