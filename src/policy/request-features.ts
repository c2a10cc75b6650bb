/**
 * What a decision may know of a request. The true output length is not here, on purpose.
 * The host reuses one object for all requests: a policy keeps numbers from it, never the object.
 */
export interface RequestFeatures {
  nowUs: number;
  inputTokens: number;
  /** SLO priority of the request's class: critical 4, standard 3, batch -1, sheddable -2, background -3; negative is sheddable. */
  priority: number;
  /** SLO class name; 'standard' when the request names none. */
  sloClass: string;
  /** Interned tenant, -1 when the request names none. */
  tenant: number;
  /** Name of the chat, empty when the request belongs to none. */
  session: string;
  /** The payload as it was sent, null in a host that has no text (signal `body`). */
  body: RequestBody | null;
  /**
   * Stands for what the prompt begins with, the same for prompts that begin alike: its first block, else its chat, else the
   * request itself (signal `contentKey`).
   */
  contentKey: string;

  /** Tokens per block. */
  blockSize: number;
  /** Full blocks of the prompt. */
  blockCount: number;
  /** Trailing blocks that the host knows no other request can have: they take up room in an index, and nobody looks them up. */
  soloBlocks: number;
  /** Chained ids of the other blocks, `blockCount - soloBlocks` of them: equal leading ids mean a shared prefix. */
  blocks: Int32Array;
  /** Per replica: leading blocks that the router has sent there before (signal `prefixIndex`). */
  routedBlocks: Int32Array;
  /** Per replica: leading blocks in its real cache, as old as the host says (signal `replicaCache`). */
  cachedBlocks: Int32Array;
}

/** A parsed JSON object: a chat has `messages`. */
export type RequestBody = Readonly<Record<string, unknown>>;

/** How many of the prompt's tokens the replica was sent before, as far as the router remembers. */
export function hitTokens(request: RequestFeatures, replica: number): number {
  return Math.min(request.routedBlocks[replica]! * request.blockSize, request.inputTokens);
}

export function createRequestFeatures(replicas: number): RequestFeatures {
  return {
    nowUs: 0,
    inputTokens: 0,
    priority: 3,
    sloClass: 'standard',
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
  };
}
