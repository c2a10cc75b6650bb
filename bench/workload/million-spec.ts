import type { WorkloadSpec } from '../../src/workload/spec/workload-spec.js';

/** A million requests of the most expensive kinds: sessions of growing context, prefix groups, bursts, long tails. */
export const MILLION: WorkloadSpec = {
  version: '2',
  aggregate_rate: 1000,
  num_requests: 1_000_000,
  clients: [
    {
      id: 'search',
      slo_class: 'critical',
      tenant_id: 'shop',
      rate_fraction: 3,
      arrival: { process: 'gamma', cv: 2.5 },
      input_distribution: { type: 'lognormal', params: { mu: 6, sigma: 1, max: 32_000 } },
      output_distribution: { type: 'exponential', params: { mean: 200, max: 2000 } },
      prefix_group: 'search',
      prefix_length: 1200,
    },
    {
      id: 'reports',
      slo_class: 'batch',
      tenant_id: 'office',
      rate_fraction: 1,
      arrival: { process: 'weibull', cv: 1.5 },
      input_distribution: {
        type: 'pareto_lognormal',
        params: { alpha: 1.5, xm: 2000, mu: 7, sigma: 0.8, mix_weight: 0.1, max: 64_000 },
      },
      output_distribution: { type: 'gaussian', params: { mean: 800, std_dev: 200, min: 10, max: 2000 } },
    },
  ],
  cohorts: [
    {
      id: 'assistants',
      population: 2000,
      slo_class: 'standard',
      tenant_id: 'shop',
      rate_fraction: 4,
      prefix_group: 'assistant',
      prefix_sharing: 'per_member',
      prefix_length: 2048,
      input_distribution: { type: 'gaussian', params: { mean: 256, std_dev: 100, min: 2, max: 800 } },
      output_distribution: { type: 'gaussian', params: { mean: 256, std_dev: 100, min: 1, max: 1024 } },
    },
    {
      id: 'chats',
      population: 1000,
      slo_class: 'standard',
      tenant_id: 'office',
      rate_fraction: 2,
      closed_loop: false,
      prefix_group: 'chat',
      prefix_length: 600,
      input_distribution: { type: 'lognormal', params: { mu: 4.5, sigma: 0.9, max: 4000 } },
      output_distribution: { type: 'lognormal', params: { mu: 5.2, sigma: 0.7, max: 4000 } },
      reasoning: { multi_turn: { max_rounds: 6, think_time_us: 8_000_000, context_growth: 'accumulate' } },
    },
  ],
};
