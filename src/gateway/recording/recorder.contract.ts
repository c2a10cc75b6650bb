import type { FinishedRequest } from '../proxy/finished-request.js';

/** A request that ended well, with whatever is changed of it. */
export function finishedRequest(changes: Partial<FinishedRequest> = {}): FinishedRequest {
  return {
    id: '7d9f6b1e-40a5-4f0e-9a53-7b1d2d1c0a11',
    kind: 'chat',
    endpoint: { name: 'default' },
    model: 'qwen/qwen3-14b',
    keyId: '',
    tenant: '',
    session: '',
    sloClass: 'standard',
    replicaId: 'engine-0',
    status: 200,
    outcome: 'ok',
    cause: '',
    attempts: 1,
    isStreamed: true,
    arrivedUs: 1_000_000,
    dispatchedUs: 1_000_200,
    queuedUs: 0,
    firstTokenUs: 1_030_000,
    endedUs: 1_500_000,
    promptTokens: 38,
    inputTokens: 40,
    cachedTokens: 16,
    outputTokens: 24,
    reasoningTokens: 0,
    isMetered: true,
    blockSize: 16,
    recordedBlocks: '',
    ...changes,
  };
}
