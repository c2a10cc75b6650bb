import type { FinishedRequest } from './request-record.js';

/** A request that succeeded, with overrides of the test. Its clock began ten seconds before it. */
export function finishedRequest(change: Partial<FinishedRequest> = {}): FinishedRequest {
  return {
    id: 'request-1',
    kind: 'chat',
    endpoint: { name: 'chat' },
    model: 'm',
    keyId: 'abcdefghijkl',
    tenant: 'team',
    session: 'session-1',
    sloClass: 'standard',
    replicaId: 'r0',
    status: 200,
    outcome: 'ok',
    cause: '',
    attempts: 1,
    isStreamed: true,
    arrivedUs: 10_000_000,
    dispatchedUs: 10_002_500,
    queuedUs: 2000,
    firstTokenUs: 10_150_000,
    endedUs: 11_000_000,
    promptTokens: 90,
    inputTokens: 100,
    cachedTokens: 64,
    outputTokens: 20,
    reasoningTokens: 5,
    liveId: 0,
    isMetered: true,
    blockSize: 16,
    recordedBlocks: '',
    policy: 'weighted',
    rule: 'highest weighted score',
    failedAttempts: [],
    ...change,
  };
}
