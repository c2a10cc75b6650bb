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
    touch(index, 1, [1, 9, 3]);
    expect(matched(index, 3, [1, 2, 3, 4])).toEqual([3, 1, 0]);
    expect(matched(index, 3, [2, 3])).toEqual([2, 0, 0]);
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
    touch(index, 0, [1, 2, 3]);
    matched(index, 1, [1]);
    touch(index, 0, [4]);
    expect(matched(index, 1, [1])).toEqual([0]);
    expect(matched(index, 1, [2, 3, 4])).toEqual([3]);
    touch(index, 0, [2]);
    touch(index, 0, [5]);
    expect(matched(index, 1, [3])).toEqual([0]);
    expect(matched(index, 1, [4, 2, 5])).toEqual([3]);
  });

  it('keeps the last blocks of a prompt that is longer than its capacity', () => {
    const index = new PrefixIndex(1, 2);
    touch(index, 0, [1, 2, 3]);
    expect(matched(index, 1, [1, 2, 3])).toEqual([0]);
    expect(matched(index, 1, [2, 3])).toEqual([2]);
    expect(index.held(0)).toBe(2);
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
      blocks: fc.oneof(
        fc.array(fc.nat({ max: 12 }), { maxLength: 8 }),
        fc
          .tuple(fc.nat({ max: 3 }), fc.nat({ max: 8 }))
          .map(([start, length]) => Array.from({ length }, (_, i) => start + i)),
      ),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const index = new PrefixIndex(replicas, capacity);
        const naive = new NaiveIndex(replicas, capacity);
        let unseen = 1000;
        for (const { kind, replica, blocks, solo, from } of steps) {
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
          expect(matched(index, replicas, blocks)).toEqual(naive.match(blocks));
          for (let block = 0; block <= 12; block++)
            expect(matched(index, replicas, [block])).toEqual(naive.match([block]));
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
  const known = (index: PrefixIndex, blocks: Int32Array) => {
    const matched = new Int32Array(1);
    index.match(blocks, blocks.length, matched);
    return matched[0];
  };

  it.each([0, 500])(
    'hold what a tenant has within its share, whatever another sends, %i of it counted only',
    (solo) => {
      const index = new PrefixIndex(1, 100);
      index.touch(0, ids(0, 40), 40, 0, 1);
      for (let prompt = 0; prompt < 4; prompt++) index.touch(0, ids(1000 * (prompt + 1), 300), 300, solo, 2);
      expect([known(index, ids(0, 40)), index.held(0)]).toEqual([40, 100]);
      // Beyond its share, a tenant drops what it sent first.
      index.touch(0, ids(100, 30), 30, 0, 1);
      expect([known(index, ids(0, 40)), known(index, ids(20, 20)), known(index, ids(100, 30))]).toEqual([0, 20, 30]);
    },
  );

  it('take back what another tenant used while it was alone', () => {
    const index = new PrefixIndex(1, 100);
    index.touch(0, ids(0, 100), 100, 0, 1);
    expect(known(index, ids(0, 100))).toBe(100);
    index.touch(0, ids(1000, 60), 60, 0, 2);
    expect([known(index, ids(1010, 50)), known(index, ids(50, 50)), index.held(0)]).toEqual([50, 50, 100]);
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
