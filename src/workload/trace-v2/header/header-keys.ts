import type { TraceServer } from '../../trace.js';

/** Versions of the format that are read; the last one is written. */
export const TRACE_VERSIONS = [2, 3] as const;

export const MODES = ['real', 'generated', 'replayed'] as const;
export const TIME_UNITS = ['microseconds', 'us'] as const;

/** What the value of a key must be; a count is whole and not negative. */
export type HeaderKind = 'text' | 'whole' | 'count' | 'number' | 'anything' | HeaderKeys | { each: HeaderKeys };
export interface HeaderKeys {
  [key: string]: HeaderKind;
}

/** What a header may say of the server, and what we call it. */
export const SERVER_KEYS = {
  type: { kind: 'text', name: 'type' },
  version: { kind: 'text', name: 'version' },
  model: { kind: 'text', name: 'model' },
  hardware: { kind: 'text', name: 'hardware' },
  tensor_parallel: { kind: 'whole', name: 'tensorParallel' },
  max_num_seqs: { kind: 'whole', name: 'maxNumSeqs' },
  max_num_batched_tokens: { kind: 'whole', name: 'maxNumBatchedTokens' },
  block_size: { kind: 'whole', name: 'blockSize' },
  total_kv_blocks: { kind: 'whole', name: 'totalKvBlocks' },
  gpu_memory_utilization: { kind: 'number', name: 'gpuMemoryUtilization' },
  max_model_len: { kind: 'whole', name: 'maxModelLen' },
} as const satisfies Record<string, { kind: HeaderKind; name: keyof TraceServer }>;

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
  server: Object.fromEntries(Object.entries(SERVER_KEYS).map(([key, { kind }]) => [key, kind])),
  network: { measured_rtt_ms: 'number' },
  goodput_slo_targets: { each: { ttft_ms: 'number', itl_ms: 'number', e2e_ms: 'number' } },
  kv_offload: 'anything',
  observed_kv_metrics: 'anything',
  partial: 'text',
  late: 'text',
};
