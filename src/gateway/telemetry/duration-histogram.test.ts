import { expect, it } from 'vitest';
import { Exposition } from '../../protocol/prometheus/exposition.js';
import { DurationHistogram } from './duration-histogram.js';
import { parseExposition } from './exposition.fixture.js';
import { LabelAxis } from './label-axis.js';
import { FAMILIES } from './metric-families.js';

it('counts a duration in the first bucket that is long enough, and writes buckets with all before them', () => {
  const axis = new LabelAxis('endpoint', 5);
  const histogram = new DurationHistogram(FAMILIES.gap, axis, [1000, 20_000]);
  const row = axis.index('chat');
  axis.index('quiet');
  for (const us of [0, 1000, 1001, 20_000, 20_001, 5_000_000]) histogram.observe(row, us);
  const out = new Exposition();
  histogram.writeTo(out);
  const name = 'twinyard_inter_token_latency_seconds';
  expect(Object.fromEntries(parseExposition(out.text()))).toEqual({
    [`${name}_bucket{endpoint="chat",le="0.001"}`]: 2,
    [`${name}_bucket{endpoint="chat",le="0.02"}`]: 4,
    [`${name}_bucket{endpoint="chat",le="+Inf"}`]: 6,
    [`${name}_sum{endpoint="chat"}`]: 5.042002,
    [`${name}_count{endpoint="chat"}`]: 6,
    [`${name}_bucket{endpoint="quiet",le="0.001"}`]: 0,
    [`${name}_bucket{endpoint="quiet",le="0.02"}`]: 0,
    [`${name}_bucket{endpoint="quiet",le="+Inf"}`]: 0,
    [`${name}_sum{endpoint="quiet"}`]: 0,
    [`${name}_count{endpoint="quiet"}`]: 0,
  });
});
