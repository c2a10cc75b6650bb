import type { AdmissionPolicy, RoutingPolicy } from './contract.js';
import { SCORERS } from './scoring/registry.js';

/** Options beyond the defaults under which a policy must keep its contracts too. */
const MORE_OPTIONS: Record<string, object[]> = {
  weighted: [
    { scorers: SCORERS.map(({ name }, i) => ({ name, weight: i + 1 })), tie_break: 'random' },
    { scorers: 'no-hit-lru:1' },
  ],
  lmetric: [{ batch_offset: 1, tie_break: 'random' }],
  unified: [{ overload_factor: 0.5, block_size: 16 }],
  chwbl: [
    { capacity: 'ceil', load_factor: 1, virtual_nodes_per_replica: 3, max_user_messages_for_cache: 0 },
    { key: 'first-message' },
    { key: 'prefix-blocks', load_factor: 3 },
  ],
  'session-hash': [{ virtual_nodes_per_replica: 1, tie_break: 'random' }],
  'kubeai-prefix-hash': [{ replication: 2, mean_load_percentage: 300, prefix_char_length: 3 }],
  'sglang-cache-aware': [{ balance_abs_threshold: 1, balance_rel_threshold: 1.1, cache_threshold: 0.01 }],
  'dynamo-cost': [{ temperature: 0.5 }, { temperature: 1e-3, overlap_score_weight: 3 }],
  'sticky-until-saturated': [{ queue_threshold: 2, kv_threshold: 0.5 }],
  'predicted-latency': [
    { slo: { standard: { ttft_ms: 300 }, batch: { ttft_ms: 100, tpot_ms: 100 } }, shed: true, tie_break: 'random' },
    { headroom: 'least', output_tokens: 0, others_weight: 0, slo: { batch: { tpot_ms: 500 } } },
  ],
  'token-bucket': [{ capacity: 500, refill_rate: 100 }],
  'tier-shed': [{ threshold: 6, min_priority: 4 }],
  'gaie-legacy': [{ qd_threshold: 1, kv_threshold: 0.1 }],
};

/** The defaults of a policy, both ways to break ties where it has them, and more: a new policy needs no line here. */
export function optionVariants({ name, options }: RoutingPolicy | AdmissionPolicy): object[] {
  const ties = 'tie_break' in options ? [{ tie_break: 'random' }] : [];
  return [{}, ...ties, ...(MORE_OPTIONS[name] ?? [])];
}
