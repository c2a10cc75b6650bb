import { finishedRequest } from '../request/finished-request.fixture.js';
import type { FinishedRequest } from '../request/request-record.js';

/** A successful request without a key or a session, with the given changes. */
export function recordedRequest(changes: Partial<FinishedRequest> = {}): FinishedRequest {
  return finishedRequest({
    ...{ id: '7d9f6b1e-40a5-4f0e-9a53-7b1d2d1c0a11', endpoint: { name: 'default' }, model: 'qwen/qwen3-14b' },
    ...{ keyId: '', tenant: '', session: '', replicaId: 'engine-0' },
    ...{ arrivedUs: 1_000_000, dispatchedUs: 1_000_200, firstTokenUs: 1_030_000, endedUs: 1_500_000 },
    ...{ promptTokens: 38, inputTokens: 40, cachedTokens: 16, outputTokens: 24 },
    ...changes,
  });
}
