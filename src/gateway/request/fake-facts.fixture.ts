import { scanBody } from '../../protocol/body/scanned-body.js';
import type { JsonObject } from '../../protocol/json/json-body.js';
import type { RequestFacts } from './request-facts.js';

/** What a test changes of a request: its body is given as a value. */
export type FactsChange = Partial<Omit<RequestFacts, 'body'>> & { body?: JsonObject };

/** The facts of a small request, for tests. */
export function fakeFacts({ body = { prompt: 'x' }, ...change }: FactsChange = {}): RequestFacts {
  return {
    id: 'q',
    kind: 'completion',
    method: 'POST',
    pinnedTo: '',
    model: 'm',
    inputTokens: 0,
    session: '',
    sloClass: 'standard',
    sloTtftUs: 0,
    sloTpotUs: 0,
    tenant: '',
    keyId: '',
    mostOutput: null,
    streams: false,
    hidesUsage: false,
    cacheSalt: '',
    body: scanBody(Buffer.from(JSON.stringify(body))),
    measured: null,
    characters: 0,
    audioSeconds: 0,
    ...change,
  };
}
