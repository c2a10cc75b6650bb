import type { FlipSearch } from './find-flip.js';
import type { FlipSignalName } from './flip-signals.js';

/** What would have flipped a decision, as plain data with the names of replicas. */
export interface FlipRecord {
  /** The smallest change that flips it; null when there is none within the bounds. */
  change: FlipChange | null;
  /** Values that were tried: the least and the greatest, by signal. */
  bounds: Readonly<Record<string, readonly [number, number]>>;
  /** Replicas whose signals were changed, one at a time, of those that could be chosen. */
  replicas: number;
  eligible: number;
  /** Whether every value was tried that is nearer than the change, or every value within the bounds. */
  exhaustive: boolean;
}

export interface FlipChange {
  replica: string;
  signal: string;
  from: number;
  to: number;
  /** The replica that is chosen then; null when the request is refused. */
  chosen: string | null;
}

/** Null when the decision cannot be repeated. */
export function flipRecord(
  search: FlipSearch | null,
  ids: readonly string[],
  nameOf: (signal: FlipSignalName) => string = (signal) => signal,
): FlipRecord | null {
  if (search === null) return null;
  const { bounds, eligible, flip, isExhaustive: exhaustive, replicas } = search;
  return {
    change:
      flip === null
        ? null
        : {
            replica: ids[flip.replica]!,
            signal: nameOf(flip.signal),
            from: flip.from,
            to: flip.to,
            chosen: ids[flip.chosen] ?? null,
          },
    bounds: Object.fromEntries(
      bounds.map(({ greatest, least, signal }) => [nameOf(signal), [least, greatest] as const]),
    ),
    replicas,
    eligible,
    exhaustive,
  };
}

/** Names as the lines of `decide` and of decision traces have them. */
const LINE_NAMES: Record<FlipSignalName, string> = {
  queued: 'queued',
  running: 'running',
  kvUsed: 'kv_utilization',
  freeBlocks: 'free_kv_blocks',
  cacheHitRate: 'cache_hit_rate',
  inFlight: 'in_flight',
  ongoingTokens: 'ongoing_tokens',
  pendingPrefillTokens: 'pending_prefill_tokens',
  ongoingDecodeTokens: 'ongoing_decode_tokens',
  indexedBlocks: 'indexed_blocks',
  routedBlocks: 'routed_blocks',
  cachedBlocks: 'cached_blocks',
  predictedTtftUs: 'predicted_ttft_us',
  predictedItlUs: 'predicted_itl_us',
  predictedPromptUs: 'predicted_prompt_us',
};

export function flipLine(search: FlipSearch | null, ids: readonly string[]): FlipRecord | null {
  return flipRecord(search, ids, (signal) => LINE_NAMES[signal]);
}
