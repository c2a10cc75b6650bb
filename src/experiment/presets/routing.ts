import type { Preset, PresetVariant } from './preset.js';

const REFERENCE = 'round-robin';

function variant(name: string, settings: Record<string, string>): PresetVariant {
  return { name, settings, against: name === REFERENCE ? null : REFERENCE, isolates: '', series: name, x: null };
}

/** Five ways to route a burst, by the signals they read. */
export const routing: Preset = {
  name: 'routing',
  summary: 'five routing set-ups under a burst of equal requests',
  title: 'Routing under a burst',
  settings: {
    model: 'meta-llama/llama-3.1-8b-instruct',
    'num-instances': '4',
    'num-requests': '1000',
    rate: '5000',
  },
  workload: 'flags',
  leastRequests: 1,
  capacityWorkload: null,
  variants: () => [
    variant(REFERENCE, { 'routing-policy': 'round-robin' }),
    variant('least-loaded', { 'routing-policy': 'least-loaded' }),
    variant('weighted queue-depth:1', { 'routing-policy': 'weighted', 'routing-scorers': 'queue-depth:1' }),
    variant('weighted kv-utilization:1', { 'routing-policy': 'weighted', 'routing-scorers': 'kv-utilization:1' }),
    variant('weighted default', { 'routing-policy': 'weighted' }),
  ],
  axis: null,
  headline: ['ttft_p99_ms', 'tokens_per_sec', 'busiest_share'],
  notes: () => [],
};
