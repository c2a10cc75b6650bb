import type { WorkloadSpec } from '../../spec/workload-spec.js';

/**
 * Agents that write code: most sessions are a single call, some are long sessions of tool calls whose context grows, and nearly
 * all tokens are prompt. The longest session stays below 262,144 tokens.
 */
export const agenticCoder: WorkloadSpec = {
  version: '2',
  category: 'language',
  clients: [
    {
      id: 'single-calls',
      rate_fraction: 0.8,
      arrival: { process: 'poisson' },
      input_distribution: { type: 'lognormal', params: { mu: 9.3, sigma: 1, min: 500, max: 120_000 } },
      output_distribution: { type: 'lognormal', params: { mu: 5.5, sigma: 0.9, min: 10, max: 4000 } },
      prefix_group: 'coder',
      prefix_length: 6000,
      timeout: 300_000_000,
    },
    {
      id: 'agents',
      rate_fraction: 0.2,
      arrival: { process: 'gamma', cv: 1.5 },
      input_distribution: { type: 'lognormal', params: { mu: 9.5, sigma: 0.8, min: 1000, max: 60_000 } },
      output_distribution: { type: 'lognormal', params: { mu: 5.5, sigma: 0.9, min: 10, max: 2000 } },
      prefix_group: 'coder',
      prefix_length: 6000,
      reasoning: {
        multi_turn: {
          max_rounds: 30,
          rounds_distribution: { type: 'lognormal', params: { mu: 2, sigma: 0.8, min: 2 } },
          think_time_distribution: { type: 'lognormal', params: { mu: 14.9, sigma: 1, max: 120_000_000 } },
          input_distribution: { type: 'lognormal', params: { mu: 6.6, sigma: 0.9, min: 20, max: 4000 } },
          context_growth: 'accumulate',
        },
      },
    },
  ],
  aggregate_rate: 0.5,
};
