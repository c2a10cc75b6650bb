import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { md5Head } from '../../../kernel/hash/md5.js';
import { createFleetView, type FleetView } from '../../fleet-view.js';
import { HashRing } from './hash-ring.js';

const md5 = (text: string) => BigInt(`0x${createHash('md5').update(text).digest('hex').slice(0, 16)}`);

/** The rule in its plainest form: all points in order, starting after the key, each replica once. */
function walk(ids: readonly string[], points: number, key: string): string[] {
  const ring = ids
    .flatMap((id) => Array.from({ length: points }, (_, i) => ({ id, at: md5(`${id}:${i}`) })))
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  const after = ring.filter(({ at }) => at >= md5(key));
  return [...new Set([...after, ...ring].map(({ id }) => id))];
}

function walkOf(ring: HashRing, view: FleetView, key: string): string[] {
  const met: string[] = [];
  for (let slot = ring.home(view, key); slot >= 0; slot = ring.next(view)) met.push(view.ids[slot]!);
  return met;
}

function fleet(ids: readonly string[]): FleetView {
  return { ...createFleetView(ids.length), ids };
}

describe('HashRing', () => {
  it('passes every replica once, in the order of the plain rule', () => {
    const ring = new HashRing(md5Head, 7, (id, point) => `${id}:${point}`);
    const view = fleet(['a', 'b', 'c', 'd', 'e']);
    for (let i = 0; i < 200; i++) expect(walkOf(ring, view, `key ${i}`)).toEqual(walk(view.ids, 7, `key ${i}`));
  });

  it('takes the replica of a point that the key hits exactly', () => {
    const ring = new HashRing(md5Head, 2, (id, point) => `${id}:${point}`);
    expect(ring.home(fleet(['a', 'b', 'c']), 'b:1')).toBe(1);
  });

  it('skips replicas that are not eligible, as if they were not there', () => {
    const ring = new HashRing(md5Head, 7, (id, point) => `${id}:${point}`);
    const view = fleet(['a', 'b', 'c', 'd']);
    view.eligible.set([1, 0, 1, 0]);
    for (let i = 0; i < 50; i++) expect(walkOf(ring, view, `key ${i}`)).toEqual(walk(['a', 'c'], 7, `key ${i}`));
    view.eligible.fill(0);
    expect(ring.home(view, 'key')).toBe(-1);
  });

  it('follows the fleet, and moves only the keys of replicas that join or leave', () => {
    const ring = new HashRing(md5Head, 50, (id, point) => `${id}:${point}`);
    const homes = (ids: readonly string[]) => {
      const view = fleet(ids);
      return Array.from({ length: 300 }, (_, i) => ids[ring.home(view, `key ${i}`)]!);
    };
    const before = homes(['a', 'b', 'c', 'd']);
    const after = homes(['d', 'a', 'e', 'b']);
    before.forEach((home, i) => {
      if (home !== 'c' && after[i] !== 'e') expect(after[i]).toBe(home);
    });
    expect(new Set(after)).toEqual(new Set(['a', 'b', 'd', 'e']));
    expect(homes([])).toEqual(new Array(300).fill(undefined));
  });
});
