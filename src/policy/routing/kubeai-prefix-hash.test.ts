import { expect, it } from 'vitest';
import { xxhash64 } from '../../kernel/hash/xxhash64.js';
import { kubeaiPrefixHash } from './kubeai-prefix-hash.js';
import { pickerOf } from './parts/picker.fixture.js';

function hash(text: string): bigint {
  const out = new Uint32Array(2);
  xxhash64(text, out);
  return (BigInt(out[0]!) << 32n) + BigInt(out[1]!);
}

/** Replicas in the order in which a key passes them. */
function order(key: string): number[] {
  const ring = Array.from({ length: 4 * 256 }, (_, i) => ({
    slot: i >> 8,
    at: hash(`replica-${i >> 8}${i & 255}`),
  })).sort((a, b) => (a.at < b.at ? -1 : 1));
  const after = ring.filter(({ at }) => at >= hash(key));
  return [...new Set([...after, ...ring].map(({ slot }) => slot))];
}

it('keys by the first hundred characters of the first user message', () => {
  const { request, ask } = pickerOf(kubeaiPrefixHash, 4);
  const homeOf = (content: string) => {
    request.body = {
      messages: [
        { role: 'system', content: 'ignored' },
        { role: 'user', content },
      ],
    };
    return ask();
  };
  expect(homeOf('Hello')).toBe(order('Hello')[0]);
  for (const letter of ['a', '☃', '😀']) {
    const long = letter.repeat(100);
    expect([homeOf(long), homeOf(`${long}b`), homeOf(`${long}😀 and so on`)]).toEqual(
      new Array(3).fill(order(long)[0]),
    );
  }
  request.body = { prompt: 'Once' };
  expect(ask()).toBe(order('Once')[0]);
  request.body = null;
  request.contentKey = 'block:3';
  expect(ask()).toBe(order('block:3')[0]);
});

it('accepts up to 125 percent of the mean, and anything while nothing is in flight', () => {
  const { view, request, why, ask } = pickerOf(kubeaiPrefixHash, 4);
  request.contentKey = 'k';
  const ring = order('k');
  expect(ask()).toBe(ring[0]);
  expect(why.rule).toBe('home of its key');
  view.inFlight[ring[0]!] = 1;
  // 2 / 4 * 1.25: no replica is within the bound, so the home takes it.
  expect(ask()).toBe(ring[0]);
  view.inFlight.fill(1);
  view.inFlight[ring[0]!] = 2;
  // 6 / 4 * 1.25 = 1.875
  expect(ask()).toBe(ring[0]);
  view.inFlight[ring[2]!] = 0;
  expect(ask()).toBe(ring[2]);
});
