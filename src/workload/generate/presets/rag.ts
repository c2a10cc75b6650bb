import type { ClientSpec, WorkloadSpec } from '../../spec/workload-spec.js';

/** Questions about one collection of documents, which every prompt starts with. */
function questions(id: string, share: number, documentTokens: number): ClientSpec {
  return {
    id,
    rate_fraction: share,
    arrival: { process: 'poisson' },
    input_distribution: { type: 'lognormal', params: { mu: 3.6, sigma: 0.6, min: 5, max: 400 } },
    output_distribution: { type: 'lognormal', params: { mu: 5, sigma: 0.6, min: 10, max: 1000 } },
    prefix_group: id,
    prefix_length: documentTokens,
    timeout: 300_000_000,
  };
}

/** A few hot documents and short questions about them; some questions bring documents that are used once. */
export const rag: WorkloadSpec = {
  version: '2',
  category: 'language',
  clients: [
    questions('handbook', 0.35, 4096),
    questions('products', 0.25, 6144),
    questions('policies', 0.15, 3072),
    questions('contracts', 0.1, 8192),
    {
      id: 'search',
      rate_fraction: 0.15,
      arrival: { process: 'poisson' },
      input_distribution: { type: 'lognormal', params: { mu: 8.2, sigma: 0.4, min: 1000, max: 12_000 } },
      output_distribution: { type: 'lognormal', params: { mu: 5, sigma: 0.6, min: 10, max: 1000 } },
      timeout: 300_000_000,
    },
  ],
  aggregate_rate: 4,
};
