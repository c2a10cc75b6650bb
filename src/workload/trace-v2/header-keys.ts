export const MODES = ['real', 'generated', 'replayed'] as const;
export const TIME_UNITS = ['microseconds', 'us'] as const;

/** What the value of a key must be; a count is whole and not negative. */
export type HeaderKind = 'text' | 'whole' | 'count' | 'number' | 'anything' | HeaderKeys | { each: HeaderKeys };
export interface HeaderKeys {
  [key: string]: HeaderKind;
}

/** Every key a header may have. */
export const HEADER_KEYS: HeaderKeys = {
  trace_version: 'whole',
  time_unit: 'text',
  created_at: 'text',
  mode: 'text',
  warm_up_requests: 'count',
  workload_seed: 'whole',
  workload_spec: 'text',
  session_context_growth: 'text',
  block_tokens: 'count',
  server: {
    type: 'text',
    model: 'text',
    tensor_parallel: 'whole',
    max_num_seqs: 'whole',
    block_size: 'whole',
    gpu_memory_utilization: 'number',
    max_model_len: 'whole',
  },
  network: { measured_rtt_ms: 'number' },
  goodput_slo_targets: { each: { ttft_ms: 'number', itl_ms: 'number', e2e_ms: 'number' } },
  kv_offload: 'anything',
  observed_kv_metrics: 'anything',
};
