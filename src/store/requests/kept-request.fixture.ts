import type { KeptRequest } from './kept-request.js';

/** A request that succeeded, with the fields that a test sets. */
export function keptRequest(change: Partial<KeptRequest> = {}): KeptRequest {
  return {
    endedAt: 1_000_000,
    gateway: 'g1',
    number: 1,
    id: 'r1',
    workspace: 'default',
    endpoint: 'chat',
    model: 'm',
    keyId: 'k1',
    sloClass: 'standard',
    replica: 'a',
    outcome: 'ok',
    ttftUs: 20_000,
    durationUs: 90_000,
    ...change,
    facts: {
      arrivedAt: 900_000,
      status: 200,
      cause: '',
      policy: 'weighted',
      attempts: 1,
      isStreamed: true,
      queuedUs: -1,
      dispatchedUs: 500,
      inputTokens: 10,
      cachedTokens: 4,
      outputTokens: 5,
      failedAttempts: [],
      ...change.facts,
    },
  };
}
