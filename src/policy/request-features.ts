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
  /** Interned chat, -1 when the request belongs to none. */
  session: number;

  /** Full blocks of the prompt at the policy's block size. */
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

export function createRequestFeatures(replicas: number): RequestFeatures {
  return {
    nowUs: 0,
    inputTokens: 0,
    priority: 3,
    sloClass: 'standard',
    tenant: -1,
    session: -1,
    blockCount: 0,
    soloBlocks: 0,
    blocks: new Int32Array(0),
    routedBlocks: new Int32Array(replicas),
    cachedBlocks: new Int32Array(replicas),
  };
}
