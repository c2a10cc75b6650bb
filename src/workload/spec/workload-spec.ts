/**
 * A workload as users write it: WorkloadSpec version 2. These types are the YAML document itself, key for key, so
 * that what is read, composed, fitted and written needs no translation. Values of this type have been checked by the reader.
 */
export interface WorkloadSpec {
  version: '2';
  seed?: number;
  category?: '' | 'language' | 'multimodal' | 'reasoning';
  clients?: ClientSpec[];
  cohorts?: CohortSpec[];
  /** Requests per second of all clients together; 0: every window sets its own rate (`trace_rate`). */
  aggregate_rate?: number;
  /** Microseconds; no request arrives later. */
  horizon?: number;
  num_requests?: number;
  /** A ServeGen folder to take cohorts from. */
  servegen_data?: { path: string };
  inference_perf?: InferencePerfSpec;
  goodput_slo_targets?: Record<string, { ttft_ms?: number; itl_ms?: number; e2e_ms?: number }>;
}

/** What clients and cohorts have in common. */
export interface TrafficSpec {
  id: string;
  tenant_id?: string;
  slo_class?: string;
  model?: string;
  adapter?: string;
  rate_fraction?: number;
  arrival?: ArrivalSpec;
  input_distribution?: LengthSpec;
  output_distribution?: LengthSpec;
  prefix_group?: string;
  prefix_length?: number;
  streaming?: boolean;
  network?: { rtt_ms?: number; bandwidth_mbps?: number };
  multimodal?: MultimodalSpec;
  reasoning?: ReasoningSpec;
  /** Microseconds until the client cancels; 0: never. Absent: never, 300 s for sessions. */
  timeout?: number;
  slo_target_us?: number;
  closed_loop?: boolean;
}

export interface ClientSpec extends TrafficSpec {
  /** Users who each wait for their response; instead of a rate. */
  concurrency?: number;
  think_time_us?: number;
  lifecycle?: { windows: WindowSpec[] };
}

/** Many clients of one kind. */
export interface CohortSpec extends TrafficSpec {
  population: number;
  prefix_sharing?: 'shared' | 'per_member';
  diurnal?: { peak_hour: number; peak_to_trough_ratio: number };
  spike?: { start_time_us: number; duration_us: number; trace_rate?: number };
  drain?: { start_time_us: number; ramp_duration_us: number };
}

export interface WindowSpec {
  start_us: number;
  end_us: number;
  trace_rate?: number;
  arrival?: ArrivalSpec;
  input_distribution?: LengthSpec;
  output_distribution?: LengthSpec;
}

export interface ArrivalSpec {
  process: 'constant' | 'poisson' | 'gamma' | 'weibull';
  cv?: number;
  shape?: number;
  scale?: number;
}

export interface LengthSpec {
  type: 'gaussian' | 'exponential' | 'lognormal' | 'pareto_lognormal' | 'constant' | 'empirical';
  /** By name of the parameter; of an empirical distribution by length: its probability. */
  params?: Record<string, number>;
  /** An empirical distribution in a separate file, relative to the specification. */
  file?: string;
}

export interface MultimodalSpec {
  text_distribution?: LengthSpec;
  image_distribution?: LengthSpec;
  image_count_distribution?: LengthSpec;
  audio_distribution?: LengthSpec;
  audio_count_distribution?: LengthSpec;
  video_distribution?: LengthSpec;
  video_count_distribution?: LengthSpec;
}

export interface ReasoningSpec {
  reason_ratio_distribution?: LengthSpec;
  multi_turn?: MultiTurnSpec;
}

export interface MultiTurnSpec {
  max_rounds: number;
  /** Turns of a session, drawn when it begins, 1 to `max_rounds`; absent: always `max_rounds`. */
  rounds_distribution?: LengthSpec;
  think_time_us?: number;
  /** The pause before each later turn in microseconds; instead of `think_time_us`. */
  think_time_distribution?: LengthSpec;
  /** What each later turn adds to the prompt; absent: as the client's `input_distribution`. */
  input_distribution?: LengthSpec;
  /** accumulate: a turn's prompt starts with the whole session so far. */
  context_growth?: '' | 'accumulate';
  /** The client holds one session only. */
  single_session?: boolean;
  /** When that one session begins, in microseconds; the client then has no rate. */
  start_us?: number;
}

export interface InferencePerfSpec {
  /** Requests per second for a number of seconds, one stage after the other. */
  stages: { rate: number; duration: number }[];
  shared_prefix: {
    num_unique_system_prompts: number;
    num_users_per_system_prompt: number;
    system_prompt_len: number;
    question_len: number;
    output_len: number;
    enable_multi_turn_chat?: boolean;
  };
}
