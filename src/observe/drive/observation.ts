import type { LatencySpread } from '../../simulator/results/latency-spread.js';
import type { Trace, TraceGoodputTarget, TraceServer } from '../../workload/trace.js';
import type { TraceFacts } from '../../workload/trace-v2/write.js';
import type { Workload } from '../../workload/workload.js';
import type { MetricsSample } from './client/metrics-scraper.js';
import type { ServerAddress } from './client/server-client.js';
import type { ApiFormat } from './prompts/prompt-turns.js';
import type { TokenScale } from './prompts/token-scale.js';
import type { SendClock } from './send/send-clock.js';

/** What is to be sent: the requests that the simulator would simulate. */
export interface ObservePlan {
  workload: Workload;
  /** Nothing is sent later than this, in microseconds; null: no end. */
  horizonUs: number | null;
  /** How urgent the requests of an SLO class are, lower first. */
  urgency: (sloClass: string) => number;
  /** The expected number of requests, where responses cause further ones and the number is known. */
  expected?: number;
  /** Facts of the plan for the header of the trace. */
  workloadSeed?: number;
  workloadSpec?: string;
  goodputTargets?: Record<string, TraceGoodputTarget>;
}

export interface ObservedServer extends ServerAddress {
  /** What requests call the model. */
  model: string;
  /** Known settings of the server; they override what it reports. */
  settings?: TraceServer;
}

export interface ObserveOptions {
  apiFormat: ApiFormat;
  streaming: boolean;
  /** Responses must be exactly as long as planned. */
  constrained: boolean;
  /** Requests under way at most. */
  maxConcurrency: number;
  /** The first requests sent are not part of the observation. */
  warmUpRequests: number;
  /** Time for which the server is kept busy before the first request. */
  prewarmUs: number;
  /** Microseconds until a client cancels, where the plan has no timeout; Infinity: never. */
  timeoutUs: number;
  /** The greatest 99th percentile of the driver's own lateness that is accepted; 0: any. */
  maxLatenessUs: number;
  /** Record when each chunk of each response arrived. */
  recordItl: boolean;
  /** How often the server's metrics are looked at; null: never. */
  scrapeIntervalMs: number | null;
  rttMs?: number;
  /** Called when the requests are about to be sent. */
  begun?: () => void;
  /** Makes prompts different from those of other runs; random unless given. */
  salt?: number;
  clock?: () => SendClock;
}

/** The state of a run in progress. */
export interface ObserveProgress {
  planned: number;
  done: number;
  failed: number;
  inFlight: number;
  /** Milliseconds, of the latest requests; NaN while there are none. */
  ttftP50Ms: number;
  ttftP99Ms: number;
  latenessP99Ms: number;
  /** Chunks received so far. */
  chunks: number;
}

/** How many tokens prompts had by the server's count, less those that were planned. */
export interface TokenDifference {
  compared: number;
  exact: number;
  mean: number;
  min: number;
  p50: number;
  max: number;
}

type Figures = { [Name in 'ttft' | 'itl' | 'e2e' as `${Name}_${keyof LatencySpread}_ms`]: number };

/** The result as it is printed. */
export interface ObservationDocument extends Figures {
  /** As in the header of a trace. */
  server: { url: string; [setting: string]: string | number };
  requests: {
    planned: number;
    sent: number;
    warm_up: number;
    recorded: number;
    completed: number;
    failed: number;
    /** By problem; complete responses may be among them. */
    problems: Record<string, number>;
  };
  duration_s: number;
  responses_per_sec: number;
  tokens_per_sec: number;
  total_input_tokens: number;
  total_cached_tokens: number;
  total_output_tokens: number;
  /** Milliseconds. */
  driver: {
    lateness: LatencySpread;
    cap_wait: LatencySpread;
    connect: LatencySpread;
    max_lateness_ms: number;
  };
  prompts: {
    counted_by: TokenScale['by'];
    tokens_per_word: number;
    checked: number;
    /** Requests that are longer than the server accepts. */
    too_long: number;
    difference: TokenDifference;
  };
  metrics: Record<string, number>;
  partial: string | null;
  late: string | null;
}

/** What was measured. */
export interface Observation {
  document: ObservationDocument;
  /** The requests that were recorded, in the order in which they were sent, as `replay` reads them; null when there are none. */
  trace: Trace | null;
  /** Further facts for its header. */
  facts: Partial<TraceFacts>;
  /** What its times count from, in microseconds since 1970. */
  epochUs: number;
  /** When the chunks of responses arrived, by request of the trace; empty unless requested. */
  chunks: readonly { id: number; us: Float64Array }[];
  metrics: readonly MetricsSample[];
}
