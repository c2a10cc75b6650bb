import { describe, expect, test } from 'vitest';
import { Histogram, oneTwoFive } from './histogram.js';
import { PrometheusText } from './prometheus-text.js';

describe('a histogram', () => {
  test('counts what is at most each bound', () => {
    const histogram = new Histogram([1, 2, 5]);
    for (const value of [0, 1, 1.5, 5, 6]) histogram.observe(value);
    expect(histogram.cumulative()).toEqual([2, 3, 4]);
    expect([histogram.count, histogram.sum]).toEqual([5, 13.5]);
  });

  test('has bounds that grow', () => {
    expect(oneTwoFive(100)).toEqual([1, 2, 5, 10, 20, 50, 100]);
    expect(oneTwoFive(40)).toEqual([1, 2, 5, 10, 20]);
  });
});

test('metrics as text', () => {
  const out = new PrometheusText({ model_name: 'a "b"\\\n' });
  out.gauge('g', 'A gauge.', 0.5);
  out.counter('c', 'A counter.', [{ labels: { why: 'x' }, value: 3 }, { value: 4 }]);
  const histogram = new Histogram([0.5, 2]);
  histogram.observe(1);
  out.histogram('h', 'A histogram.', histogram);
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
      `h_bucket{${label},le="2.0"} 1`,
      `h_bucket{${label},le="+Inf"} 1`,
      `h_count{${label}} 1`,
      `h_sum{${label}} 1`,
      '',
    ].join('\n'),
  );
});
