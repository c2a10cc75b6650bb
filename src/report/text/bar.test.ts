import { expect, it } from 'vitest';
import { bar } from './bar.js';

it.each([
  [0, '    '],
  [0.001, '▏   '],
  [0.5, '██  '],
  [0.53, '██▏ '],
  [1, '████'],
  [1.7, '████'],
])('draws %d', (share, text) => {
  expect(bar(share, 4)).toBe(text);
});
