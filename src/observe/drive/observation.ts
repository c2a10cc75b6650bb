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
  /** How many requests there will be in all, where answers bring about further ones and somebody knows. */
  expected?: number;
  /** What the trace's header says of the plan. */
  workloadSeed?: number;
  workloadSpec?: string;
  goodputTargets?: Record<string, TraceGoodputTarget>;
}

export interface ObservedServer extends ServerAddress {
  /** What requests call the model. */
  model: string;
  /** What somebody knows of the server; wins over what it tells itself. */
  settings?: TraceServer;
}

export interface ObserveOptions {
  apiFormat: ApiFormat;
  streaming: boolean;
  /** Answers are to be exactly as long as planned. */
  constrained: boolean;
  /** Requests under way at most. */
  maxConcurrency: number;
  /** The first ones sent are not part of the observation. */
  warmUpRequests: number;
  /** Before anything is sent, the server is kept busy for so long. */
  prewarmUs: number;
  /** Microseconds until a client gives up, where the plan does not say; Infinity: never. */
  timeoutUs: number;
  /** The greatest 99th percentile of the driver's own lateness that is accepted; 0: any. */
  maxLatenessUs: number;
  /** Keep when each piece of each response came. */
  recordItl: boolean;
  /** How often the server's metrics are looked at; null: never. */
  scrapeIntervalMs: number | null;
  rttMs?: number;
  /** Hears that everything is known and requests are about to be sent. */
  begun?: () => void;
  /** Makes prompts different from those of any other run; at random unless given. */
  salt?: number;
  clock?: () => SendClock;
}

/** What can be seen while it goes on. */
export interface ObserveProgress {
  planned: number;
  done: number;
  failed: number;
  inFlight: number;
  /** Milliseconds, of the latest requests; NaN while there are none. */
  ttftP50Ms: number;
  ttftP99Ms: number;
  latenessP99Ms: number;
  /** Pieces of answers so far. */
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
  /** As the header of a trace says it. */
  server: { url: string; [setting: string]: string | number };
  requests: {
    planned: number;
    sent: number;
    warm_up: number;
    recorded: number;
    completed: number;
    failed: number;
    /** By what was wrong; complete answers may be among them. */
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
    /** Requests that are longer than the server says it takes. */
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
  /** What its header says besides. */
  facts: Partial<TraceFacts>;
  /** What its times count from, in microseconds since 1970. */
  epochUs: number;
  /** When the pieces of answers came, by request of the trace; empty unless they were wanted. */
  chunks: readonly { id: number; us: Float64Array }[];
  metrics: readonly MetricsSample[];
}
