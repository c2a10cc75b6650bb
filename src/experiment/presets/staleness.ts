import type { Preset, PresetVariant } from './preset.js';

const INTERVALS_MS = [0, 1, 5, 10, 50, 100];
const SERIES: readonly [name: string, settings: Record<string, string>][] = [
  ['kv-utilization:1', { 'routing-policy': 'weighted', 'routing-scorers': 'kv-utilization:1' }],
  ['default', { 'routing-policy': 'weighted' }],
];

/**
 * How much old reports of the replicas hurt: memory use alone against scorers of which one is never old. A request arrives
 * every 2 ms, so that all but the shortest interval cover several decisions.
 */
export const staleness: Preset = {
  name: 'staleness',
  summary: 'signals of growing age, with memory use alone and with the default scorers',
  title: 'Routing by old signals',
  settings: { model: 'qwen/qwen3-14b', 'num-instances': '4', 'num-requests': '500', rate: '500' },
  workload: 'flags',
  leastRequests: 1,
  capacityWorkload: null,
  variants: () =>
    SERIES.flatMap(([series, settings]) =>
      INTERVALS_MS.map(
        (ms): PresetVariant => ({
          name: `${series}, ${ms} ms`,
          settings: { ...settings, 'snapshot-refresh-interval': String(ms * 1000) },
          against: ms === 0 ? null : `${series}, 0 ms`,
          isolates: '',
          series,
          x: ms,
        }),
      ),
    ),
  axis: { title: 'age of the signals', unit: 'ms' },
  headline: ['ttft_p99_ms'],
  notes: () => [],
};
