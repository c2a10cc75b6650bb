import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixIndex } from './prefix-index.js';

function matched(index: PrefixIndex, replicas: number, blocks: readonly number[]): number[] {
  const out = new Int32Array(replicas).fill(77);
  index.match(Int32Array.from(blocks), blocks.length, out);
  return Array.from(out);
}

function touch(index: PrefixIndex, replica: number, blocks: readonly number[]): void {
  index.touch(replica, Int32Array.from(blocks), blocks.length);
}

/** Ids of the blocks of prompts, as hosts make them: one per block and everything before it. */
class Chains {
  readonly #ids = new Map<string, number>();

  of(blocks: readonly number[]): number[] {
    return blocks.map((_, i) => {
      const path = blocks.slice(0, i + 1).join();
      if (!this.#ids.has(path)) this.#ids.set(path, this.#ids.size);
      return this.#ids.get(path)!;
    });
  }
}

/** The rule in its plainest form: a list per replica, least recent first. */
class NaiveIndex {
  readonly lists: number[][];

  constructor(
    replicas: number,
    readonly capacity: number,
  ) {
    this.lists = Array.from({ length: replicas }, () => []);
  }

  match(blocks: readonly number[]): number[] {
    return this.lists.map((list) => {
      const gap = blocks.findIndex((block) => !list.includes(block));
      return gap < 0 ? blocks.length : gap;
    });
  }

  rearrange(from: readonly number[]): void {
    const before = [...this.lists];
    for (const i of this.lists.keys()) this.lists[i] = before[from[i] ?? -1] ?? [];
  }

  touch(replica: number, blocks: readonly number[]): void {
    for (const block of blocks) {
      const list = this.lists[replica]!.filter((held) => held !== block);
      list.push(block);
      this.lists[replica] = list.slice(Math.max(0, list.length - this.capacity));
    }
  }
}

describe('PrefixIndex', () => {
  it('counts leading blocks per replica and stops at the first gap', () => {
    const index = new PrefixIndex(3, 100);
    touch(index, 0, [1, 2, 3]);
    touch(index, 1, [1, 9, 8]);
    expect(matched(index, 3, [1, 2, 3, 4])).toEqual([3, 1, 0]);
    expect(matched(index, 3, [1, 9])).toEqual([1, 2, 0]);
    expect(matched(index, 3, [8])).toEqual([0, 0, 0]);
    expect(matched(index, 3, [])).toEqual([0, 0, 0]);
  });

  it('reads only the given number of blocks', () => {
    const index = new PrefixIndex(1, 100);
    index.touch(0, Int32Array.of(1, 2, 3), 2);
    const out = new Int32Array(1);
    index.match(Int32Array.of(1, 2, 3), 3, out);
    expect(out[0]).toBe(2);
    index.match(Int32Array.of(1, 2, 3), 1, out);
    expect(out[0]).toBe(1);
  });

  it('drops the least recently sent block first; a lookup does not make it more recent', () => {
    const index = new PrefixIndex(1, 3);
    const known = () => [1, 2, 3, 4, 5].filter((block) => matched(index, 1, [block])[0] === 1);
    for (const block of [1, 2, 3]) touch(index, 0, [block]);
    matched(index, 1, [1]);
    touch(index, 0, [4]);
    expect(known()).toEqual([2, 3, 4]);
    touch(index, 0, [2]);
    touch(index, 0, [5]);
    expect(known()).toEqual([2, 4, 5]);
  });

  it('keeps nothing that it can find of a prompt that is longer than its capacity, and drops all else for it', () => {
    const index = new PrefixIndex(1, 2);
    touch(index, 0, [7]);
    touch(index, 0, [1, 2, 3]);
    expect([matched(index, 1, [1, 2, 3]), matched(index, 1, [7]), index.held(0)]).toEqual([[0], [0], 2]);
    touch(index, 0, [1, 2, 3]);
    expect([matched(index, 1, [1, 2, 3]), index.held(0)]).toEqual([[0], 2]);
    touch(index, 0, [1, 2]);
    expect([matched(index, 1, [1, 2, 3]), index.held(0)]).toEqual([[2], 2]);
  });

  it('remembers nothing with a capacity of 0', () => {
    const index = new PrefixIndex(1, 0);
    touch(index, 0, [1]);
    expect(matched(index, 1, [1])).toEqual([0]);
  });

  it('matches a naive implementation, for any sequence', () => {
    const replicas = 3;
    const step = fc.record({
      kind: fc.constantFrom('touch', 'touch', 'touch', 'touch', 'match', 'forget', 'rearrange'),
      from: fc.shuffledSubarray([0, 1, 2, -1, -1], { maxLength: replicas }),
      replica: fc.nat({ max: replicas - 1 }),
      solo: fc.oneof(fc.constant(0), fc.nat({ max: 12 })),
      // Few different blocks: prompts share beginnings of all lengths.
      blocks: fc.oneof(
        fc.array(fc.nat({ max: 2 }), { maxLength: 8 }),
        fc.nat({ max: 12 }).map((length) => Array<number>(length).fill(0)),
      ),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 15 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const index = new PrefixIndex(replicas, capacity);
        const naive = new NaiveIndex(replicas, capacity);
        const chains = new Chains();
        const prompts = steps.map(({ blocks }) => chains.of(blocks));
        let unseen = 100_000;
        for (const [i, { kind, replica, solo, from }] of steps.entries()) {
          const blocks = prompts[i]!;
          if (kind === 'touch') {
            index.touch(replica, Int32Array.from(blocks), blocks.length, solo);
            naive.touch(replica, [...blocks, ...Array.from({ length: solo }, () => unseen++)]);
          } else if (kind === 'forget') {
            index.forget(replica);
            naive.lists[replica] = [];
          } else if (kind === 'rearrange') {
            index.rearrange(Int32Array.from(from));
            naive.rearrange(from);
          }
          for (const prompt of prompts) expect(matched(index, replicas, prompt)).toEqual(naive.match(prompt));
          expect(naive.lists.map((_, i) => index.held(i))).toEqual(naive.lists.map((list) => list.length));
        }
      }),
    );
  });

  it('stays correct over many more blocks than it can hold', () => {
    const index = new PrefixIndex(2, 1000);
    const naive = new NaiveIndex(2, 1000);
    for (let prompt = 0; prompt < 300; prompt++) {
      const shared = [0, 1, 2, 3];
      const own = Array.from({ length: 20 }, (_, i) => 1000 + ((prompt * 37) % 150) * 20 + i);
      touch(index, prompt % 2, [...shared, ...own]);
      naive.touch(prompt % 2, [...shared, ...own]);
      expect(matched(index, 2, [...shared, ...own])).toEqual(naive.match([...shared, ...own]));
    }
  });
});

describe('shares of tenants', () => {
  const ids = (from: number, count: number) => Int32Array.from({ length: count }, (_, i) => from + i);
  /** Blocks [from, from + count) as prompts of ten. */
  const tens = (from: number, count: number) => Array.from({ length: count / 10 }, (_, i) => ids(from + 10 * i, 10));
  const send = (index: PrefixIndex, prompts: readonly Int32Array[], tenant: number) => {
    for (const prompt of prompts) index.touch(0, prompt, prompt.length, 0, tenant);
  };
  const known = (index: PrefixIndex, prompts: readonly Int32Array[]) => {
    const matched = new Int32Array(1);
    return prompts.reduce((sum, prompt) => {
      index.match(prompt, prompt.length, matched);
      return sum + matched[0]!;
    }, 0);
  };

  it.each([0, 500])(
    'hold what a tenant has within its share, whatever another sends, %i of it counted only',
    (solo) => {
      const index = new PrefixIndex(1, 100);
      send(index, tens(0, 40), 1);
      for (let prompt = 0; prompt < 4; prompt++) index.touch(0, ids(1000 * (prompt + 1), 300), 300, solo, 2);
      expect([known(index, tens(0, 40)), index.held(0)]).toEqual([40, 100]);
      // Beyond its share, a tenant drops what it sent first.
      send(index, tens(100, 30), 1);
      expect([known(index, tens(0, 20)), known(index, tens(20, 20)), known(index, tens(100, 30))]).toEqual([0, 20, 30]);
    },
  );

  it('take back what another tenant used while it was alone', () => {
    const index = new PrefixIndex(1, 100);
    send(index, tens(0, 100), 1);
    expect(known(index, tens(0, 100))).toBe(100);
    send(index, tens(1000, 60), 2);
    expect([known(index, tens(1010, 50)), known(index, tens(50, 50)), index.held(0)]).toEqual([50, 50, 100]);
  });

  it('are charged for blocks that were dropped with another share and are sent again', () => {
    const index = new PrefixIndex(1, 40);
    const shared = ids(0, 20);
    send(index, [shared, ...tens(100, 20)], 1);
    // Drops the first ten blocks of the shared prompt.
    send(index, tens(200, 10), 2);
    expect(known(index, [shared])).toBe(0);
    send(index, [shared], 2);
    // The tenant has them and its own ten; the other one has what it had.
    expect([known(index, [shared]), known(index, tens(100, 20)), known(index, tens(200, 10))]).toEqual([20, 10, 10]);
    send(index, [...tens(300, 20)], 2);
    expect([known(index, tens(110, 10)), known(index, tens(300, 20)), index.held(0)]).toEqual([10, 20, 40]);
  });

  it('hold for any sequence of prompts of others', () => {
    const prompt = fc.record({
      blocks: fc.array(fc.nat({ max: 2 }), { maxLength: 30 }),
      solo: fc.nat({ max: 40 }),
      tenant: fc.constantFrom(2, 3),
    });
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2 }), { maxLength: 10 }), fc.array(prompt), (own, others) => {
        const index = new PrefixIndex(1, 30);
        const chains = new Chains();
        const first = Int32Array.from(chains.of(own));
        index.touch(0, first, first.length, 0, 1);
        for (const { blocks, solo, tenant } of others) {
          index.touch(0, Int32Array.from(chains.of(blocks)), blocks.length, solo, tenant);
          expect(known(index, [first])).toBe(first.length);
          expect(index.held(0)).toBeLessThanOrEqual(30);
        }
      }),
    );
  });

  it('follow their replica, and are free when it forgets', () => {
    const index = new PrefixIndex(2, 10);
    index.touch(1, ids(0, 5), 5, 2, 1);
    index.touch(1, ids(100, 3), 3, 0, 2);
    index.rearrange(Int32Array.of(1, -1));
    expect([index.held(0), index.held(1)]).toEqual([10, 0]);
    index.touch(0, ids(200, 10), 10, 0, 2);
    expect(index.held(0)).toBe(10);
    index.forget(0);
    index.touch(0, ids(300, 10), 10, 0, 3);
    const matched = new Int32Array(2);
    index.match(ids(300, 10), 10, matched);
    expect([...matched]).toEqual([10, 0]);
  });
});
