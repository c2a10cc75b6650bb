import { describe, expect, it } from 'vitest';
import { type CurvePoint, drawLoadCurve } from './load-curve.js';

const point = (x: number, value: number, changes: Partial<CurvePoint> = {}): CurvePoint => ({
  ...{ x, value, low: value, high: value, saturated: false, ...changes },
});
const drawn = (points: CurvePoint[], limit: number | null = null) =>
  drawLoadCurve({
    ...{ title: 'TTFT against load', x: 'requests/s', y: 'ms' },
    series: [
      { name: 'four replicas', colour: 0, points },
      { name: 'none', colour: 1, points: [] },
    ],
    limit: limit === null ? null : { value: limit, text: 'SLO 500 ms' },
  });

describe('drawLoadCurve', () => {
  it('draws the SLO in and names only what it shows', () => {
    const svg = drawn([point(10, 100), point(20, 300)], 500);
    expect(svg).toMatch(/class="limit"[\s\S]*SLO 500 ms/);
    expect(svg).toContain('four replicas');
    expect(svg).not.toContain('none');
    expect(svg).not.toContain('hollow');
  });

  it('marks saturated points and says what the mark means', () => {
    const svg = drawn([point(10, 100), point(20, 300, { saturated: true })]);
    expect(svg).toContain('hollow: saturated, the value grows with the length of the run');
    expect(svg.match(/class="hollow c0"/g)).toHaveLength(1);
    expect(svg).not.toContain('class="limit"');
  });

  it('keeps the scale of its values where an interval reaches down to 0', () => {
    const svg = drawn([point(10, 100), point(20, 9000, { low: 0, high: 20_000 })]);
    const ticks = [...svg.matchAll(/>([\d.]+k?)<\/text>/g)].map(([, text]) => text);
    expect(ticks).toContain('100k');
    expect(ticks).not.toContain('0.001');
  });

  it('is nothing without points', () => {
    expect(drawn([])).toBe('');
  });
});
