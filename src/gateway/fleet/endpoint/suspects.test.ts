import { describe, expect, it } from 'vitest';
import { Suspects } from './suspects.js';

const POISON = Buffer.from('{"prompt":"poison"}');
const OTHER = Buffer.from('{"prompt":"potion"}');

describe('Suspects', () => {
  it('blames the replica on which a request fails first, and it alone', () => {
    const suspects = new Suspects();
    const blamed = ['a', 'b', 'c', 'a', 'b'].map((replica, i) => suspects.blames(POISON, replica, i));
    expect(blamed).toEqual([true, false, false, true, false]);
    expect(suspects.blames(OTHER, 'b', 9)).toBe(true);
    expect(suspects.size).toBe(2);
  });

  it('suspects no request forever, and none that got a response', () => {
    const suspects = new Suspects();
    suspects.blames(POISON, 'a', 0);
    expect(suspects.blames(POISON, 'b', 59_999)).toBe(false);
    expect(suspects.blames(POISON, 'b', 119_999)).toBe(true);
    suspects.clear(OTHER);
    suspects.clear(POISON);
    expect([suspects.blames(POISON, 'c', 120_000), suspects.size]).toEqual([true, 1]);
  });

  it('remembers a condemned request for a minute or until it is served, and blames no replica for it', () => {
    const suspects = new Suspects();
    expect(suspects.isPoison(POISON, 0)).toBe(false);
    suspects.blames(POISON, 'a', 0);
    expect(suspects.isPoison(POISON, 0)).toBe(false);
    suspects.condemn(POISON, 0);
    expect([suspects.isPoison(POISON, 59_999), suspects.isPoison(OTHER, 0)]).toEqual([true, false]);
    expect(suspects.isPoison(POISON, 60_000)).toBe(false);
    expect(suspects.blames(POISON, 'a', 1)).toBe(false);
    suspects.clear(POISON);
    expect([suspects.isPoison(POISON, 1), suspects.size]).toEqual([false, 0]);
  });

  it('remembers a bounded number', () => {
    const suspects = new Suspects();
    suspects.blames(POISON, 'a', 0);
    for (let i = 0; i < 300; i++) suspects.condemn(Buffer.from(`{"prompt":${i}}`), i);
    expect([suspects.size, suspects.blames(POISON, 'b', 301)]).toEqual([256, true]);
  });
});
