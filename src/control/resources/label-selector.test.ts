import { expect, it } from 'vitest';
import { labelSelector, selectedParts } from './label-selector.js';

it('names what the JSON of selected labels contains', () => {
  const text = 'team=search, gpu,!old,tier!=free,zone in (a,b),odd=é,a/b.c-d == e';
  const parts = selectedParts(text);
  expect(parts).toEqual(['"team":"search"', '"gpu":', '"odd":', '"a/b.c-d":"e"']);
  const labels = { team: 'search', gpu: '', zone: 'a', odd: 'é', 'a/b.c-d': 'e' };
  expect(labelSelector(text, '?')(labels)).toBe(true);
  for (const part of parts) expect(JSON.stringify(labels)).toContain(part);
});
