import type { UsageRow } from './usage-record.js';

/** The usage of one request, with the fields that a test sets. */
export function used(row: Partial<UsageRow> = {}): UsageRow {
  return {
    keyId: 'k1',
    model: 'm',
    endpoint: 'chat',
    day: '2026-01-01',
    outcome: 'ok',
    requests: 1,
    inputTokens: 100,
    cachedTokens: 40,
    outputTokens: 10,
    reasoningTokens: 4,
    estimatedRequests: 0,
    costNanos: 7,
    characters: 3,
    audioSeconds: 2,
    ...row,
  };
}
