import type { WorkloadSpec } from '../../spec/workload-spec.js';

/**
 * Three tenants with different latency needs on one fleet: interactive users, the sessions of an assistant, and reports
 * that may take long.
 */
export const mixedSlo: WorkloadSpec = {
  version: '2',
  category: 'language',
  clients: [
    {
      id: 'checkout',
      tenant_id: 'shop',
      slo_class: 'critical',
      rate_fraction: 0.5,
      arrival: { process: 'poisson' },
      input_distribution: { type: 'gaussian', params: { mean: 200, std_dev: 60, min: 20, max: 500 } },
      output_distribution: { type: 'gaussian', params: { mean: 60, std_dev: 20, min: 5, max: 150 } },
      prefix_group: 'shop',
      prefix_length: 512,
      streaming: true,
      timeout: 10_000_000,
      slo_target_us: 300_000,
    },
    {
      id: 'assistant',
      tenant_id: 'office',
      slo_class: 'standard',
      rate_fraction: 0.2,
      arrival: { process: 'gamma', cv: 1.5 },
      input_distribution: { type: 'lognormal', params: { mu: 4.6, sigma: 0.8, min: 5, max: 2000 } },
      output_distribution: { type: 'lognormal', params: { mu: 5.3, sigma: 0.6, min: 10, max: 1500 } },
      prefix_group: 'office',
      prefix_length: 1024,
      streaming: true,
      reasoning: { multi_turn: { max_rounds: 4, think_time_us: 5_000_000, context_growth: 'accumulate' } },
      slo_target_us: 1_000_000,
    },
    {
      id: 'reports',
      tenant_id: 'finance',
      slo_class: 'batch',
      rate_fraction: 0.3,
      arrival: { process: 'weibull', cv: 2.5 },
      input_distribution: { type: 'lognormal', params: { mu: 8, sigma: 0.5, min: 500, max: 16_000 } },
      output_distribution: { type: 'gaussian', params: { mean: 800, std_dev: 200, min: 100, max: 1600 } },
      timeout: 0,
      slo_target_us: 30_000_000,
    },
  ],
  aggregate_rate: 8,
  goodput_slo_targets: {
    critical: { ttft_ms: 200, e2e_ms: 2000 },
    standard: { ttft_ms: 500, itl_ms: 40 },
    batch: { e2e_ms: 60_000 },
  },
};
