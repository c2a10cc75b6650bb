export interface Spread {
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** What a trace is like, as `twinyard trace stats` prints it. */
export interface TraceStats {
  format: string;
  requests: number;
  /** From the first arrival to the last. */
  duration_s: number;
  rate: {
    /** Gaps between arrivals per second of trace; null when all arrive at once. */
    mean_per_s: number | null;
    /** The most that arrive within any second, or minute. */
    peak_per_second: number;
    peak_per_minute: number;
    /** Standard deviation of the gaps over their mean: 0 for a clock, 1 for Poisson arrivals; null without gaps. */
    gap_cv: number | null;
  };
  input_tokens: Spread & { total: number };
  output_tokens: Spread & { total: number };
  chats?: { count: number; requests: number; turns: Spread };
  /** Reuse, where a trace records the content of prompts. A block counts as seen when an earlier prompt had it. */
  recorded_blocks?: { tokens: number; count: number; distinct: number; seen_before_share: number };
  /** What prompts have in common with earlier ones, in full blocks from their start. */
  prefix_reuse: {
    /**
     * What identifies shared beginnings of prompts; many formats have nothing of the kind, and then no reuse is known.
     */
    known_by: PromptKnowledge[];
    block_size: number;
    infinite_cache: ReuseShare;
    lru_cache?: ReuseShare & { blocks: number };
    hot_prefixes: { tokens: number; uses: number; reused_tokens: number; first_request: string }[];
  };
  /** Requests by name, most first; absent when the trace names none. */
  slo_classes?: Record<string, number>;
  tenants?: Record<string, number>;
  models?: Record<string, number>;
  clients?: Record<string, number>;
}

export type PromptKnowledge = 'recorded_blocks' | 'prefix_groups' | 'growing_chats';

export interface ReuseShare {
  reused_tokens: number;
  /** Of all prompt tokens. */
  share: number;
}

/** Per request, in order of arrival: what pictures are drawn from. */
export interface TraceSeries {
  arrivalUs: Float64Array;
  inputTokens: Float64Array;
  reusedTokens: Float64Array;
  cachedTokens: Float64Array | null;
  /** Sorted. */
  sortedInput: Float64Array;
  sortedOutput: Float64Array;
  sortedTurns: Float64Array;
}
