import { describe, expect, test } from 'vitest';
import { Exposition, labelText, labelTexts } from './exposition.js';
import { Histogram } from './histogram.js';
import { readSamples } from './read-samples.js';

describe('an exposition', () => {
  test('has a family of each type, with the labels of all samples', () => {
    const out = new Exposition(labelTexts({ model_name: 'a "b"\\\n' }));
    out.single({ name: 'g', type: 'gauge', help: 'A gauge.' }, 0.5);
    out.family({ name: 'c_total', type: 'counter', help: 'A counter.' });
    out.sample(labelText('why', 'x'), 3);
    out.sample('', 4);
    const histogram = new Histogram([0.5, 2]);
    histogram.observe(1);
    out.family({ name: 'h', type: 'histogram', help: 'A histogram.' });
    histogram.writeTo(out);
    const label = 'model_name="a \\"b\\"\\\\\\n"';
    expect(out.text()).toBe(
      [
        '# HELP g A gauge.',
        '# TYPE g gauge',
        `g{${label}} 0.5`,
        '# HELP c_total A counter.',
        '# TYPE c_total counter',
        `c_total{${label},why="x"} 3`,
        `c_total{${label}} 4`,
        '# HELP h A histogram.',
        '# TYPE h histogram',
        `h_bucket{${label},le="0.5"} 0`,
        `h_bucket{${label},le="2"} 1`,
        `h_bucket{${label},le="+Inf"} 1`,
        `h_sum{${label}} 1`,
        `h_count{${label}} 1`,
        '',
      ].join('\n'),
    );
  });

  test('is read back by readSamples', () => {
    const out = new Exposition();
    out.single({ name: 'a', type: 'gauge', help: 'A.' }, 2, labelText('x', 'y'));
    const samples = readSamples(out.text());
    expect([samples.sum('a'), samples.label('a', 'x')]).toEqual([2, 'y']);
  });
});

describe('a histogram', () => {
  test('counts what is at most each bound, row by row', () => {
    const histogram = new Histogram([1, 2, 5], 2);
    for (const value of [0, 1, 1.5, 5, 6]) histogram.observe(value, 1);
    const out = new Exposition();
    out.family({ name: 'h', type: 'histogram', help: 'H.' });
    histogram.writeTo(out, labelText('row', '1'), 1, { divisor: 10, boundText: (bound) => bound.toFixed(2) });
    expect(out.text().split('\n').slice(2)).toEqual([
      'h_bucket{row="1",le="0.10"} 2',
      'h_bucket{row="1",le="0.20"} 3',
      'h_bucket{row="1",le="0.50"} 4',
      'h_bucket{row="1",le="+Inf"} 5',
      'h_sum{row="1"} 1.35',
      'h_count{row="1"} 5',
      '',
    ]);
    expect([histogram.count(0), histogram.count(1)]).toEqual([0, 5]);
  });
});
