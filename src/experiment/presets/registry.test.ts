import { describe, expect, it } from 'vitest';
import { METRICS } from '../metrics.js';
import { PRESETS } from './registry.js';

const capacity = { requestsPerSec: 10, inputTokensPerSec: 5000 };

describe.each(PRESETS)('$name', (preset) => {
  const variants = preset.variants(null, capacity);
  const names = variants.map(({ name }) => name);

  it('names each variant once and measures them against one of them', () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { against } of variants) if (against !== null) expect(names).toContain(against);
    expect(variants.some(({ against }) => against === null)).toBe(true);
  });

  it('has a step for every variant, or no steps at all', () => {
    for (const { x } of variants) expect(x === null).toBe(preset.axis === null);
  });

  it('names metrics that exist', () => {
    for (const key of preset.headline ?? []) {
      expect(METRICS.map((metric) => metric.key)).toContain(key.replace('/critical', ''));
    }
  });

  it('brings a workload exactly when it declares one', () => {
    for (const { workload } of variants) expect(workload === undefined).toBe(preset.workload === 'flags');
  });
});

describe('presets', () => {
  const variantsOf = (name: string, requests: number | null = null) =>
    PRESETS.find((preset) => preset.name === name)!.variants(requests, capacity);

  it('routing has the five set-ups', () => {
    expect(variantsOf('routing').map(({ settings }) => Object.values(settings).join(' '))).toEqual([
      'round-robin',
      'least-loaded',
      'weighted queue-depth:1',
      'weighted kv-utilization:1',
      'weighted',
    ]);
  });

  it('staleness has six ages for two sets of scorers, measured against fresh ones', () => {
    const variants = variantsOf('staleness');
    expect(variants.map(({ x }) => x)).toEqual([0, 1, 5, 10, 50, 100, 0, 1, 5, 10, 50, 100]);
    expect(variants[5]).toMatchObject({
      against: 'kv-utilization:1, 0 ms',
      settings: { 'snapshot-refresh-interval': '100000' },
    });
  });

  it('b3 has a control for each question, one of them on shorter sessions', () => {
    expect(variantsOf('b3').map(({ name, maxTurns }) => [name, maxTurns])).toEqual([
      ['lmetric', undefined],
      ['load-only', undefined],
      ['sticky', undefined],
      ['unified', undefined],
      ['capped', 8],
    ]);
  });

  it('b3 keeps requests per session and per second at another size', () => {
    expect(variantsOf('b3', 607)[0]!.workload).toEqual({
      kind: 'agentic-coder',
      options: { requests: 607, sessions: 137, durationS: 1456 },
      maxTurns: null,
    });
  });

  it('admission offers fractions and multiples of the measured capacity, and fills buckets at that rate', () => {
    const variants = variantsOf('admission', 100);
    const rates = variants.map(({ workload }) => workload!.kind === 'spec' && workload!.spec.aggregate_rate);
    expect([...new Set(rates)]).toEqual([5, 10, 15, 20, 30]);
    expect(variants[2]).toMatchObject({
      name: 'token-bucket 5 s, 0.5 x',
      settings: { 'token-bucket-refill-rate': '5000', 'token-bucket-capacity': '25000' },
      workload: { spec: { num_requests: 100 } },
    });
  });
});
