import type { ClusterConfig } from './cluster-config.js';

type Spread<Name extends string> = Record<
  `${Name}_${'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'min' | 'max'}_ms`,
  number
>;

/** The keys that a cluster and each of its replicas share. Zero where nothing was measured. */
export interface ServingMetrics extends Spread<'e2e'>, Spread<'ttft'>, Spread<'itl'> {
  injected_requests: number;
  completed_requests: number;
  still_queued: number;
  still_running: number;
  dropped_unservable: number;
  timed_out_requests: number;
  length_capped_requests: number;
  total_input_tokens: number;
  total_output_tokens: number;
  duration_s: number;
  responses_per_sec: number;
  tokens_per_sec: number;
  scheduling_delay_p99_ms: number;
  preemption_count: number;
  cache_hit_rate: number;
  prompt_cache_hit_rate: number;
  kv_allocation_failures: number;
}

/** As seen from the clients, network included; absent when no client has a network delay. */
export type ClientMetrics = Spread<'client_ttft'> & Spread<'client_e2e'>;

export interface ClusterMetrics extends ServingMetrics, Partial<ClientMetrics> {
  generated_requests: number;
  not_arrived: number;
  in_pipeline: number;
  rejected_requests: number;
  routing_rejected: number;
  gateway_queued: number;
  gateway_rejected: number;
  gateway_shed: number;
  gateway_expired: number;
  gateway_evicted: number;
}

export interface InstanceMetrics extends ServingMetrics {
  instance_id: string;
}

export interface MeanAndTail {
  mean_us: number;
  p99_us: number;
}

export interface ClassMetrics {
  count: number;
  ttft: MeanAndTail;
  itl: MeanAndTail;
  e2e: MeanAndTail;
}

export interface ClassGoodput {
  /** Requests of the class that arrived. */
  count: number;
  slo_attainment: number;
  goodput_rps: number;
  /** Among completed requests, by dimension. */
  slo_attainment_by_dim: Record<string, number>;
  ttft_p99_ms: number;
  itl_mean_ms: number;
  e2e_p99_ms: number;
}

export interface Goodput {
  goodput_rps: number;
  slo_attainment: number;
  per_class: Record<string, ClassGoodput>;
}

export interface Quantiles {
  mean: number;
  p50: number;
  p95: number;
  p99: number;
}

export interface SessionMetrics {
  count: number;
  ttft_cold_ms: Quantiles;
  ttft_warm_ms: Quantiles;
  duration_ms: Quantiles;
}

export interface DecisionSummary {
  total: number;
  admitted: number;
  rejected: number;
  reasons: Record<string, number>;
  targets: Record<string, number>;
  mean_regret: number;
  max_regret: number;
}

export interface RequestResult {
  request_id: string;
  instance: string | null;
  status: string;
  /** When the client sent it. */
  arrival_us: number;
  scheduling_delay_us: number | null;
  ttft_us: number | null;
  itl_mean_us: number | null;
  e2e_us: number | null;
  input_tokens: number;
  output_tokens: number;
  slo_class: string;
  tenant: string | null;
  session: string | null;
  round: number | null;
  model: string;
  gateway_wait_us: number | null;
  /** For how long the client held it back before sending it: only with a cap on requests in flight. In no latency. */
  client_wait_us?: number;
}

/** Of one of several models. Zero where nothing was measured. */
export interface ModelMetrics {
  /** All that name it, whatever their outcome. */
  requests: number;
  completed: number;
  input_tokens: number;
  output_tokens: number;
  ttft: MeanAndTail;
  itl: MeanAndTail;
  e2e: MeanAndTail;
}

/** A client with a cap on requests in flight. Latencies count from the sending, as a client measures them. */
export interface ClientCap {
  max_in_flight: number;
  /** Requests that were held back, and how long all that were sent were: in no latency. */
  held_requests: number;
  wait_mean_ms: number;
  wait_p99_ms: number;
  latencies_from: 'sending';
}

/**
 * - `keeps-up`: requests were served as fast as they arrived
 * - `saturated`: the backlog grew until the last arrival, and more arrivals would have let it grow on
 * - `too-short`: it grew until the last arrival, but arrivals ended before the fleet could settle
 * - `no-rate`: too few requests, all of them at once, or clients that wait for responses: there is no rate to keep
 */
export type SaturationState = 'keeps-up' | 'saturated' | 'too-short' | 'no-rate';

/** Whether a fleet served requests as fast as they arrived, and the evidence. */
export interface SaturationFindings {
  state: SaturationState;
  /** Admitted requests that arrived per second. */
  arrival_rps: number;
  /** Requests per second that the fleet served while it was full. Null unless it is saturated and was full. */
  kept_rps: number | null;
  /** Requests per second that it cannot exceed with its places in batches. Null unless it is saturated. */
  at_most_rps: number | null;
  /** Growth of requests in flight over the second half of the arrivals, in requests per second. */
  backlog_slope_rps: number;
  /** Requests in flight, and those of them without a first token, on the mean of the last quarter of the arrivals. */
  in_flight: number;
  waiting: number;
  /** Median TTFT of requests that arrived in the second quarter and in the last one; null without a first token. */
  ttft_early_ms: number | null;
  ttft_late_ms: number | null;
  /** So many requests would let the fleet settle. Null unless the run is too short. */
  enough_requests: number | null;
}

/** What a detector of saturation says: nothing grows, a backlog is there, or it grows and nothing stops it. */
export type LoadLevel = 'stable' | 'backlogged' | 'overloaded';

export interface DetectorVerdict {
  level: LoadLevel;
  /** The evidence in words; empty for a level that needs none. */
  why: string;
  /** The figures behind it, at the last arrival. */
  signals: Record<string, number>;
}

/** In the result document. */
export interface Saturation extends SaturationFindings {
  /** The state in one sentence. */
  verdict: string;
  /** By name; absent unless detectors were chosen. */
  detectors?: Record<string, DetectorVerdict>;
}

/** Where the step times come from, and how far to believe them. */
export interface LatencyNote {
  model: string;
  /** Name of the measured profile. */
  profile?: string;
  /** Family of GPUs whose coefficients were used, what they were fitted to, and what no run has tried. */
  coefficients?: string;
  from?: string;
  untried?: string;
  /** In words. */
  expected_error?: string;
  /** Figures with the quickest and the slowest steps that the latency model allows for (`--interval`). */
  interval?: LatencyInterval;
}

/** From quick steps to slow ones. */
export interface LatencyInterval {
  why: string;
  ttft_mean_ms: [number, number];
  ttft_p99_ms: [number, number];
  itl_mean_ms: [number, number];
  e2e_mean_ms: [number, number];
  tokens_per_sec: [number, number];
}

/** The JSON document of `run` and `replay`: same inputs, same bytes. */
export interface ResultDocument {
  cluster: ClusterMetrics;
  instances: InstanceMetrics[];
  slo: Record<string, ClassMetrics>;
  fairness: { jain: number; tenants: Record<string, { requests: number; tokens: number }> };
  goodput?: Goodput;
  fitness?: { score: number; terms: Record<string, number> };
  sessions?: SessionMetrics;
  decisions?: DecisionSummary;
  anomalies: {
    priority_inversions: number;
    hol_blocking_events: number;
    /** Requests shed, by SLO class: refused at admission or lost in the gateway queue. */
    shed: Record<string, number>;
    /** Requests refused at admission, by reason. */
    rejections: Record<string, number>;
  };
  /** Where requests name several models. */
  models?: Record<string, ModelMetrics>;
  /** Where the client has a cap on requests in flight. */
  client?: ClientCap;
  /** Whether the fleet served requests as fast as they arrived. */
  saturation: Saturation;
  latency: LatencyNote;
  config: ClusterConfig & { workload: Record<string, unknown> };
  /** Only in the file of `--metrics-path`. */
  requests?: RequestResult[];
}
