/**
 * What a router knows of its fleet at the moment of a decision: one slot per replica, in the fleet's order.
 * Policies read it and never write it. Arrays may be longer than `size`.
 */
export interface FleetView {
  /** Number of replicas; slots 0..size-1 are meaningful. */
  size: number;
  /**
   * The replicas' ids, by slot. A new array whenever replicas join, leave or move to another slot, so a policy detects that by
   * comparing arrays. What a policy remembers of a replica for longer, it remembers by id.
   */
  ids: readonly string[];
  /** 1 where this request may go (right model, ready, not draining). */
  eligible: Uint8Array;

  // Reported by the replica, `reportedAgeUs` ago.
  /** Requests waiting inside the replica (QueueDepth). */
  queued: Int32Array;
  /** Requests in the running batch (BatchSize). */
  running: Int32Array;
  /** Used KV blocks / all KV blocks, 0..1 (KVUtilization). */
  kvUsed: Float64Array;
  /** FreeKVBlocks. */
  freeBlocks: Int32Array;
  /** CacheHitRate: hits / (hits + misses) since the start. */
  cacheHitRate: Float64Array;
  /** Age of the reported signals in microseconds; 0 when read live. */
  reportedAgeUs: Float64Array;

  // Owned by the router: always fresh.
  /** Placed and not finished (InFlightRequests). */
  inFlight: Int32Array;
  /** Sum of input lengths in flight. */
  ongoingTokens: Float64Array;
  /** Uncached input tokens of requests that have no first token yet. */
  pendingPrefillTokens: Float64Array;
  /** Input tokens of requests that have their first token. */
  ongoingDecodeTokens: Float64Array;
  /** Prompt blocks that the router remembers sending there. */
  indexedBlocks: Int32Array;
}

/** What a policy may declare in `reads`, of the fleet or of the request; the host keeps only what is read. */
export type Signal = FleetSignal | RequestSignal;

/** Columns of the view. */
export type FleetSignal =
  | 'queued'
  | 'running'
  | 'kvUsed'
  | 'freeBlocks'
  | 'cacheHitRate'
  | 'inFlight'
  | 'ongoingTokens'
  | 'pendingPrefillTokens'
  | 'ongoingDecodeTokens'
  | 'indexedBlocks';

/** Features of a request that are filled in only before a replica is chosen for it, not before admission. */
export type RequestSignal =
  /** The router-side index of prompt blocks sent to each replica (`RequestFeatures.routedBlocks`). */
  | 'prefixIndex'
  /** The replicas' actual prefix caches (`RequestFeatures.cachedBlocks`). */
  | 'replicaCache'
  /** The request body (`RequestFeatures.body`); a world without text provides `contentKey` instead. */
  | 'body'
  /** A key for what the prompt begins with (`RequestFeatures.contentKey`). */
  | 'contentKey'
  /** Predicted times of the request on each replica (`RequestFeatures.predictions`). */
  | 'prediction'
  /** That these predictions are the truth, which only a simulation knows. */
  | 'truth';

export function createFleetView(size: number): FleetView {
  return {
    size,
    ids: Array.from({ length: size }, (_, i) => `replica-${i}`),
    eligible: new Uint8Array(size).fill(1),
    queued: new Int32Array(size),
    running: new Int32Array(size),
    kvUsed: new Float64Array(size),
    freeBlocks: new Int32Array(size),
    cacheHitRate: new Float64Array(size),
    reportedAgeUs: new Float64Array(size),
    inFlight: new Int32Array(size),
    ongoingTokens: new Float64Array(size),
    pendingPrefillTokens: new Float64Array(size),
    ongoingDecodeTokens: new Float64Array(size),
    indexedBlocks: new Int32Array(size),
  };
}

/** How busy a replica looks: queued + running + in flight. Requests inside it count twice, on purpose. */
export function effectiveLoad(view: FleetView, replica: number): number {
  return view.queued[replica]! + view.running[replica]! + view.inFlight[replica]!;
}
