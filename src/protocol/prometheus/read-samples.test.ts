import { describe, expect, it } from 'vitest';
import { readSamples } from './read-samples.js';

describe('readSamples', () => {
  it('reads samples with and without labels, times and comments', () => {
    const samples = readSamples(`# HELP a Something.
# TYPE a counter
a 1
a{x="1"} 2.5 1700000000000
b{x="1",y="two"} 4e2
  c   7  \r
`);
    expect([samples.sum('a'), samples.mean('a'), samples.sum('b'), samples.sum('d')]).toEqual([
      3.5,
      1.75,
      400,
      Number.NaN,
    ]);
    expect(samples.mean('d')).toBeNaN();
    expect(samples.label('b', 'y')).toBe('two');
    expect([samples.label('b', 'z'), samples.label('a', 'x'), samples.label('d', 'x')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('adds up the first of several metrics that exists, for any value', () => {
    const samples = readSamples('old 1\nold{x="1"} 2\nnew NaN\n');
    expect([samples.sum('newest', 'old', 'new'), samples.sum('new', 'old'), samples.sum('newest')]).toEqual([
      3,
      Number.NaN,
      Number.NaN,
    ]);
  });

  it('adds up the samples without a label, for metrics that are also broken down by it', () => {
    const samples = readSamples('a{r="0",p=""} 3\na{r="0",p="1"} 2\na{r="1"} 4\nb{p="1"} 9\n');
    expect([samples.sumWithout('p', 'a'), samples.sumWithout('r', 'b')]).toEqual([7, 9]);
    expect([samples.sumWithout('p', 'b'), samples.sumWithout('p', 'c')]).toEqual([Number.NaN, Number.NaN]);
  });

  it('reads any label values', () => {
    const samples = readSamples('a{t="} 9 {",u="q\\"\\\\",v="1"} 2\nab 5\na_total 6');
    expect([samples.sum('a'), samples.label('a', 'v'), samples.label('a', 't'), samples.label('a', 'u')]).toEqual([
      2,
      '1',
      '} 9 {',
      'q\\"\\\\',
    ]);
  });

  it('skips lines that are not samples, and reads no word as a number', () => {
    const samples = readSamples('a\n1 2\n{x="1"} 3\n\na_b nothing\nc NaN\nd +Inf');
    expect(['a', 'a_b', 'c', 'd'].map((name) => samples.sum(name))).toEqual(new Array(4).fill(Number.NaN));
  });

  it('needs no line end at the end', () => {
    expect(readSamples('a 1').sum('a')).toBe(1);
    expect(readSamples('').sum('a')).toBeNaN();
  });

  it('has the labels of every sample, without their escapes', () => {
    const rows = readSamples('a{x="1",y="q \\" b \\\\ n \\n"} 2\na 3\n').rows('a');
    expect(rows.map(({ labels, value }) => [Object.fromEntries(labels), value])).toEqual([
      [{ x: '1', y: 'q " b \\ n \n' }, 2],
      [{}, 3],
    ]);
    expect(readSamples('a 1').rows('b')).toEqual([]);
  });
});
