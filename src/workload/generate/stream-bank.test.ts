import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { StreamBank } from './stream-bank.js';

describe('StreamBank', () => {
  it('returns the numbers of each separate stream', () => {
    const bank = new StreamBank(3);
    const alone = [0, 1, 2].map((i) => randomStream(9, `stream ${i}`));
    alone.forEach((random, i) => {
      bank.select(i);
      bank.restore(random.state());
    });
    for (let n = 0; n < 3000; n++) {
      const i = (n * 7) % 3;
      bank.select(i);
      expect(n % 5 === 0 ? bank.below(1000) : bank.next()).toBe(n % 5 === 0 ? alone[i]!.below(1000) : alone[i]!.next());
    }
    bank.select(1);
    expect(bank.state().map((word) => word >>> 0)).toEqual(alone[1]!.state().map((word) => word >>> 0));
  });

  it('knows which streams have a state, and keeps it when it grows', () => {
    const bank = new StreamBank(0);
    expect(bank.isSeeded(0)).toBe(false);
    bank.seedFrom(randomStream(1, 'parent'));
    expect(bank.isSeeded(0)).toBe(true);
    const state = bank.state();
    bank.reserve(40);
    bank.reserve(2);
    bank.select(0);
    expect(bank.state()).toEqual(state);
    expect(bank.isSeeded(40)).toBe(false);
  });

  it('gives every child its own state', () => {
    const parent = randomStream(1, 'parent');
    const bank = new StreamBank(2);
    const firsts = [0, 1].map((i) => {
      bank.select(i);
      bank.seedFrom(parent);
      return bank.next();
    });
    expect(firsts[0]).not.toBe(firsts[1]);
  });
});
