import { expect, it } from 'vitest';
import { xxhash64 } from '../../kernel/hash/xxhash64.js';
import { pickerOf } from './parts/picker.fixture.js';
import { staticHash } from './static-hash.js';

function modulo(text: string, n: number): number {
  const out = new Uint32Array(2);
  xxhash64(text, out);
  return Number(((BigInt(out[0]!) << 32n) + BigInt(out[1]!)) % BigInt(n));
}

it('takes the hash of the first user message modulo the eligible replicas', () => {
  const { view, request, why, ask } = pickerOf(staticHash, 7);
  for (let i = 0; i < 40; i++) {
    request.body = { messages: [{ role: 'user', content: `question ${i}` }] };
    expect(ask()).toBe(modulo(`question ${i}`, 7));
  }
  expect(why.rule).toBe('hash of its first user message');
  request.body = null;
  request.contentKey = 'block:1';
  view.eligible.set([1, 0, 1, 0, 1, 0, 1]);
  expect(ask()).toBe(2 * modulo('block:1', 4));
  view.eligible.fill(0);
  expect(ask()).toBe(-1);
});
