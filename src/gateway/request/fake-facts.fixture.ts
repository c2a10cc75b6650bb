import type { RequestFacts } from './request-facts.js';

/** The facts of a small request, for tests. */
export function fakeFacts(change: Partial<RequestFacts> = {}): RequestFacts {
  return {
    id: 'q',
    kind: 'completion',
    model: 'm',
    inputTokens: 0,
    session: '',
    sloClass: 'standard',
    tenant: '',
    keyId: '',
    mostOutput: null,
    hidesUsage: false,
    cacheSalt: '',
    body: { prompt: 'x' },
    characters: 0,
    audioSeconds: 0,
    ...change,
  };
}
