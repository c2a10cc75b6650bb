import { createPredictions, type LatencyPredictions } from './latency-predictor.js';

/**
 * What a decision may know of a request. The output length is left out on purpose: no router knows it.
 * The host reuses one object for all requests: a policy copies values from it and never keeps it.
 */
export interface RequestFeatures {
  nowUs: number;
  inputTokens: number;
  /** SLO priority of the request's class: critical 4, standard 3, batch -1, sheddable -2, background -3; negative is sheddable. */
  priority: number;
  /** SLO class name; 'standard' when the request names none. */
  sloClass: string;
  /** Targets that the request itself sets for its time to first token and per further token; 0 for none. */
  sloTtftUs: number;
  sloTpotUs: number;
  /** Number of the tenant, -1 when the request names none. */
  tenant: number;
  /** Session id, empty when the request belongs to none. */
  session: string;
  /** The request body as it was sent, null in a world without text (signal `body`). */
  body: RequestBody | null;
  /**
   * A key for what the prompt begins with, the same for prompts that begin alike: its first block, else its session, else the
   * request itself (signal `contentKey`).
   */
  contentKey: string;

  /** Tokens per block. */
  blockSize: number;
  /** Full blocks of the prompt. */
  blockCount: number;
  /** Trailing blocks that no other request can have, as far as the host knows: they take room in the index and are never found. */
  soloBlocks: number;
  /** Chained ids of the other blocks, `blockCount - soloBlocks` of them: equal leading ids mean a shared prefix. */
  blocks: Int32Array;
  /** Per replica: leading blocks that the router has sent there before (signal `prefixIndex`). */
  routedBlocks: Int32Array;
  /** Per replica: leading blocks in its real cache, as old as the world's cache signal (signal `replicaCache`). */
  cachedBlocks: Int32Array;
  /** Per replica: predicted times (signal `prediction`). */
  predictions: LatencyPredictions;
}

/** What remains of a request when its body and its blocks are gone. */
export type RequestScalars = Omit<RequestFeatures, 'body' | 'blocks' | 'routedBlocks' | 'cachedBlocks' | 'predictions'>;

/** Copies everything but the body and the arrays, without an allocation. */
export function copyScalars(from: RequestScalars, to: RequestScalars): void {
  to.nowUs = from.nowUs;
  to.inputTokens = from.inputTokens;
  to.priority = from.priority;
  to.sloClass = from.sloClass;
  to.sloTtftUs = from.sloTtftUs;
  to.sloTpotUs = from.sloTpotUs;
  to.tenant = from.tenant;
  to.session = from.session;
  to.contentKey = from.contentKey;
  to.blockSize = from.blockSize;
  to.blockCount = from.blockCount;
  to.soloBlocks = from.soloBlocks;
}

/** A parsed JSON object. */
export type RequestBody = Readonly<Record<string, unknown>>;

/** Prompt tokens that the router remembers sending to the replica before. */
export function hitTokens(request: RequestFeatures, replica: number): number {
  return Math.min(request.routedBlocks[replica]! * request.blockSize, request.inputTokens);
}

export function createRequestFeatures(replicas: number): RequestFeatures {
  return {
    nowUs: 0,
    inputTokens: 0,
    priority: 3,
    sloClass: 'standard',
    sloTtftUs: 0,
    sloTpotUs: 0,
    tenant: -1,
    session: '',
    body: null,
    contentKey: '',
    blockSize: 16,
    blockCount: 0,
    soloBlocks: 0,
    blocks: new Int32Array(0),
    routedBlocks: new Int32Array(replicas),
    cachedBlocks: new Int32Array(replicas),
    predictions: createPredictions(replicas),
  };
}
