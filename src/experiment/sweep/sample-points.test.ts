import { describe, expect, it } from 'vitest';
import { readAxisValues, type SweepAxis } from './axis.js';
import { readSample, samplePoints } from './sample-points.js';

const axis = (name: string, text: string, isWhole = false): SweepAxis => ({
  name,
  place: `--axis ${name}`,
  values: readAxisValues(text, name, isWhole),
});

describe('samplePoints', () => {
  it('combines all values of a grid, the last axis fastest', () => {
    const points = samplePoints([axis('a', '1,2'), axis('b', 'x,y')], { kind: 'grid' }, 1);
    expect(points).toEqual([
      ['1', 'x'],
      ['1', 'y'],
      ['2', 'x'],
      ['2', 'y'],
    ]);
  });

  it('draws the same points for the same seed, and other axes do not change them', () => {
    const drawn = (axes: SweepAxis[], seed: number) => samplePoints(axes, { kind: 'random', points: 20 }, seed);
    const rate = axis('rate', '10..100');
    expect(drawn([rate], 1)).toEqual(drawn([rate], 1));
    expect(drawn([rate], 2)).not.toEqual(drawn([rate], 1));
    expect(drawn([axis('tp', '1,2'), rate], 1).map(([, value]) => value)).toEqual(
      drawn([rate], 1).map(([value]) => value),
    );
  });

  it('covers every part of each axis once with a Latin hypercube', () => {
    const points = samplePoints(
      [axis('a', '0..50', false), axis('b', '1,2,3,4,5')],
      { kind: 'latin-hypercube', points: 50 },
      7,
    );
    expect(points.map(([a]) => Math.floor(Number(a))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, i) => i),
    );
    for (const value of ['1', '2', '3', '4', '5']) expect(points.filter(([, b]) => b === value)).toHaveLength(10);
  });

  it('stays within the bounds, on whole numbers where the setting takes no others', () => {
    const points = samplePoints(
      [axis('n', '2..4', true), axis('m', '1..1000000:log', true)],
      { kind: 'random', points: 200 },
      3,
    );
    expect(new Set(points.map(([n]) => n))).toEqual(new Set(['2', '3', '4']));
    for (const [, m] of points)
      expect(Number.isInteger(Number(m)) && Number(m) >= 1 && Number(m) <= 1_000_000).toBe(true);
    // Half of the draws are below the geometric mean.
    expect(points.filter(([, m]) => Number(m) <= 1000).length).toBeGreaterThan(60);
  });

  it('refuses a grid over a range without a step, and one that is too large', () => {
    expect(() => samplePoints([axis('rate', '1..5')], { kind: 'grid' }, 1)).toThrow('has no step, which a grid needs');
    const large = [axis('a', '1..1000:1'), axis('b', '1..1000:1')];
    expect(() => samplePoints(large, { kind: 'grid' }, 1)).toThrow('the grid has 1000000 points, more than 100000');
  });
});

describe('readSample', () => {
  it.each(['grid:5', 'random', 'random:0', 'latin:5', 'random:1e3'])('refuses %s', (text) => {
    expect(() => readSample(text, '--sample')).toThrow("give 'grid', 'random:100' or 'latin-hypercube:100'");
  });

  it('reads the kinds', () => {
    expect(readSample('lhs:5', '')).toEqual({ kind: 'latin-hypercube', points: 5 });
    expect(readSample('random:5', '')).toEqual({ kind: 'random', points: 5 });
  });
});
