import { expect, it } from 'vitest';
import { readFleet } from './read-list.js';

it('reads GPUs with their tensor parallelism, and files of latency profiles', () => {
  expect(readFleet('2*H100, 4 * L4:2,A100-80,out/slow.json,3*fast.json', '--fleet')).toEqual([
    { count: 2, text: 'H100', gpu: 'H100', tp: null, profile: null },
    { count: 4, text: 'L4:2', gpu: 'L4', tp: 2, profile: null },
    { count: 1, text: 'A100-80', gpu: 'A100-80', tp: null, profile: null },
    { count: 1, text: 'out/slow.json', gpu: null, tp: null, profile: 'out/slow.json' },
    { count: 3, text: 'fast.json', gpu: null, tp: null, profile: 'fast.json' },
  ]);
});

it.each(['', '2*', '0*H100', 'H100:0', 'H100,', '2*H 100', '99999*H100,99999*L4'])('refuses %j', (text) => {
  expect(() => readFleet(text, '--fleet')).toThrow('--fleet');
});
