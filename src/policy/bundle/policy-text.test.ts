import { describe, expect, it } from 'vitest';
import { parsePolicyText } from './policy-text.js';

const PLACE = '--routing-policy';

describe('a policy in one word', () => {
  it.each([
    ['lmetric', { policy: 'lmetric', scorers: null, options: {} }],
    [
      'chwbl:load_factor=1.5+key=first-message',
      { policy: 'chwbl', scorers: null, options: { load_factor: 1.5, key: 'first-message' } },
    ],
    [
      'predicted-latency:shed=true+output_tokens=0',
      { policy: 'predicted-latency', scorers: null, options: { shed: true, output_tokens: 0 } },
    ],
    [
      'weighted:queue-depth:1+tie_break=random+kv-utilization:2',
      { policy: 'weighted', scorers: 'queue-depth:1,kv-utilization:2', options: { tie_break: 'random' } },
    ],
  ])('is read from %s', (text, read) => {
    expect(parsePolicyText(text, PLACE)).toEqual(read);
  });

  it.each([
    ['lmetrik', "unknown routing policy 'lmetrik'"],
    ['round-robin:tie_break=random', "'round-robin' has no option 'tie_break'"],
    ['chwbl:load_factor=0', 'load_factor'],
    ['chwbl:load_factor=', 'load_factor'],
    ['chwbl:load_factor=1.5+load_factor=2', "'load_factor' is given twice"],
    ['chwbl:=2', "has no option ''"],
    ['lmetric:queue-depth:1', 'has no effect with the routing policy lmetric'],
    ['weighted:none:1', "unknown scorer 'none'"],
    ['weighted:', 'no scorer is given'],
  ])('is refused where it is wrong: %s', (text, problem) => {
    expect(() => parsePolicyText(text, PLACE)).toThrow(problem);
    expect(() => parsePolicyText(text, PLACE)).toThrow(PLACE);
  });
});
