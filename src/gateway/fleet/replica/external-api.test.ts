import { describe, expect, it } from 'vitest';
import { upstream } from '../managed.fixture.js';
import { ExternalApi, headersForClients, isUpstreamsOwn, upstreamAddress } from './external-api.js';

const apiOf = (change: Parameters<typeof upstream>[2]) => new ExternalApi(upstream('u', 'http://h', change).external!);
const PARTS = { path: '/v1/chat/completions?x=1', method: 'POST', headers: [], body: Buffer.from('{"model":"chat"}') };

describe('ExternalApi', () => {
  it.each([
    ['/v1', '/v1/chat/completions?x=1'],
    ['/v1beta/openai', '/v1beta/openai/chat/completions?x=1'],
    ['', '/chat/completions?x=1'],
  ])('sends requests below %j', (prefix, path) => {
    expect(apiOf({ prefix }).request(PARTS)).toEqual({ ...PARTS, path });
  });

  it('sends its own credential and nothing that identifies the client', () => {
    const kept = ['Content-Type', 'application/json', 'x-request-id', 'q'];
    const secret = ['authorization', 'Bearer mine', 'api-key', 'mine', 'cookie', 'mine', 'x-forwarded-for', '10.0.0.1'];
    const { headers } = apiOf({ credential: 'sk-ours' }).request({ ...PARTS, headers: [...secret, ...kept] });
    expect(headers).toEqual(['authorization', 'Bearer sk-ours', ...kept]);
  });

  it('maps model names, from the next request on', () => {
    const api = apiOf({ renames: { chat: 'big' } });
    expect(String(api.request(PARTS).body)).toBe('{"model":"big"}');
    api.configure({ ...upstream('u', 'http://h').external!, renames: { other: 'x' } });
    expect(api.request(PARTS).body).toEqual(PARTS.body);
    expect(api.request({ ...PARTS, body: Buffer.alloc(0) }).body).toHaveLength(0);
  });

  it('removes headers about the host of an upstream and the account of the operator', () => {
    const raw = [
      'Content-Type',
      'a',
      'Set-Cookie',
      'b',
      'X-RateLimit-Remaining-Tokens',
      '5',
      'alt-svc',
      'h3',
      'x-mine',
      'c',
    ];
    expect(headersForClients(raw)).toEqual(['Content-Type', 'a', 'x-mine', 'c']);
  });

  it('knows which responses are not the fault of the request', () => {
    const statuses = [200, 400, 401, 403, 404, 408, 422, 429, 500, 529];
    expect(statuses.filter(isUpstreamsOwn)).toEqual([403, 408, 429, 500, 529]);
  });
});

describe('upstreamAddress', () => {
  it.each([
    ['https://llm.example.com/v1', 'https://llm.example.com', '/v1'],
    ['https://llm.example.com/v1beta/openai/', 'https://llm.example.com', '/v1beta/openai'],
    ['http://127.0.0.1:9001', 'http://127.0.0.1:9001', '/v1'],
    ['http://127.0.0.1:9001//', 'http://127.0.0.1:9001', '/v1'],
  ])('%s is reached at %s with %s', (address, url, prefix) => {
    expect(upstreamAddress(address)).toEqual({ url, prefix });
  });
});
