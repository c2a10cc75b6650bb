import { describe, expect, it } from 'vitest';
import { knownNames, nearestName } from './nearest-name.js';

const POLICIES = ['round-robin', 'least-loaded', 'weighted', 'always-busiest'];

describe('nearestName', () => {
  it.each([
    ['a letter too many', 'weighteed', 'weighted'],
    ['a letter missing', 'weigted', 'weighted'],
    ['a wrong letter', 'waighted', 'weighted'],
    ['two letters swapped', 'wieghted', 'weighted'],
    ['other case', 'Round-Robin', 'round-robin'],
    ['several mistakes in a long name', 'lest_loadet', 'least-loaded'],
  ])('finds the name meant by %s', (_, given, meant) => {
    expect(nearestName(given, POLICIES)).toBe(meant);
  });

  it('is undefined when nothing is close', () => {
    expect(nearestName('random', POLICIES)).toBeUndefined();
    expect(nearestName('weighted', [])).toBeUndefined();
  });

  it('counts a swap of neighbours as one mistake, so that it beats two', () => {
    expect(nearestName('abdc', ['xbxc', 'abcd'])).toBe('abcd');
  });

  it('prefers the nearest, and the first of two equally near', () => {
    expect(nearestName('tier-shad', ['tier-shed', 'tier-shade'])).toBe('tier-shed');
    expect(nearestName('sj', ['sjf', 'sjg'])).toBe('sjf');
  });
});

describe('knownNames', () => {
  it('suggests the nearest name and lists all', () => {
    expect(knownNames('fcsf', ['fcfs', 'sjf'])).toBe("did you mean 'fcfs'? known: fcfs, sjf");
  });

  it('only lists all when nothing is close', () => {
    expect(knownNames('something-else', ['fcfs', 'sjf'])).toBe('known: fcfs, sjf');
  });
});
