import { describe, expect, it } from 'vitest';
import { scanBody } from '../../protocol/body/scanned-body.js';
import { newRequestId, readFacts, readRoutedFields, requestIdOf } from './request-facts.js';

const headed = (headers: Record<string, string> = {}) => ({ header: (name: string) => headers[name] });
const received = (text: string) => {
  const bytes = Buffer.from(text);
  return { bytes, body: scanBody(bytes), file: null };
};
const scanned = (body: object) => received(JSON.stringify(body));
const routed = (body: object) => readRoutedFields(scanned(body).body);
const facts = (body: object, headers: Record<string, string> = {}) =>
  readFacts('id', 'chat', headed(headers), scanned(body));

describe('requestIdOf', () => {
  it.each(['a', 'req_1:2/3', '~'.repeat(128)])("takes the client's own %s", (id) => {
    expect(requestIdOf(headed({ 'x-request-id': id }))).toBe(id);
  });

  it.each([undefined, '', 'two words', 'é', 'x'.repeat(129), '\u0000'])('makes one instead of %j', (id) => {
    const given = headed(id === undefined ? {} : { 'x-request-id': id });
    const [first, second] = [requestIdOf(given), requestIdOf(given)];
    expect(first).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(second).not.toBe(first);
  });
});

describe('readFacts', () => {
  it('reads what decisions need', () => {
    const body = { model: 'm', messages: [], cache_salt: 's', user: 'u' };
    expect(facts(body)).toEqual({
      id: 'id',
      kind: 'chat',
      method: 'POST',
      pinnedTo: '',
      model: 'm',
      inputTokens: 0,
      session: 'u',
      sloClass: 'standard',
      sloTtftUs: 0,
      sloTpotUs: 0,
      tenant: '',
      keyId: '',
      mostOutput: null,
      streams: false,
      hidesUsage: false,
      cacheSalt: 's',
      measured: null,
      characters: 0,
      audioSeconds: 0,
      body: expect.objectContaining({ bytes: Buffer.from(JSON.stringify(body)) }),
    });
  });

  it('identifies a session by its header, else by prompt_cache_key, else by user', () => {
    const body = { model: 'm', prompt_cache_key: 'k', user: 'u' };
    expect(facts(body, { 'x-session-id': 's' }).session).toBe('s');
    expect(facts(body).session).toBe('k');
    expect(facts({ model: 'm', user: 'u' }).session).toBe('u');
    expect(facts({ model: 'm' }, { 'x-session-id': '' }).session).toBe('');
  });

  it('reads the class by either header', () => {
    expect(facts({ model: 'm' }, { 'x-slo-class': 'batch', 'x-gateway-inference-objective': 'o' }).sloClass).toBe(
      'batch',
    );
    expect(facts({ model: 'm' }, { 'x-gateway-inference-objective': 'o' }).sloClass).toBe('o');
  });

  it('reads the tenant without a key, the output limit and whether usage is requested', () => {
    expect(facts({ model: 'm' }, { 'x-gateway-inference-fairness-id': 'team' }).tenant).toBe('team');
    expect(facts({ model: 'm', max_tokens: 5, n: 3 }).mostOutput).toBe(15);
    expect(readFacts('id', 'embedding', headed(), scanned({ model: 'm' })).mostOutput).toBe(0);
    const hides = (body: object) => facts({ model: 'm', ...body }).hidesUsage;
    expect([hides({}), hides({ stream: true })]).toEqual([false, true]);
    expect(hides({ stream: true, stream_options: { include_usage: true } })).toBe(false);
  });

  it('remembers names that are very long by their hash', () => {
    const long = facts({ model: 'm' }, { 'x-session-id': 'x'.repeat(60_000), 'x-slo-class': 'y'.repeat(200) });
    expect(long.session).toMatch(/^sha256:[\w-]{43}$/);
    expect(long.sloClass).toHaveLength(50);
    expect(facts({ model: 'm', user: 'x'.repeat(60_000) }).session).toBe(long.session);
    expect(facts({ model: 'm', user: 'x'.repeat(128) }).session).toBe('x'.repeat(128));
  });

  it.each([
    ['nope', 'not valid JSON'],
    ['[]', 'JSON object'],
    ['{}', "'model' is required"],
    ['{"model":""}', "'model' is required"],
  ])('refuses %s', (text, message) => {
    expect(() => readFacts('id', 'chat', headed(), received(text))).toThrowError(
      expect.objectContaining({ status: 400, message: expect.stringContaining(message) }),
    );
  });
});

describe('newRequestId', () => {
  const ids = Array.from({ length: 2000 }, newRequestId);

  it('is a random UUID of version 4', () => {
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  it('differs each time, in all its digits', () => {
    expect(new Set(ids).size).toBe(ids.length);
    for (let at = 0; at < 36; at++) {
      const seen = new Set(ids.map((id) => id[at])).size;
      expect(seen).toBe([8, 13, 14, 18, 23].includes(at) ? 1 : at === 19 ? 4 : 16);
    }
  });
});

describe('the fields of a body that the gateway reads', () => {
  it('are found in all kinds of requests', () => {
    expect(routed({ model: 'm' })).toEqual({
      model: 'm',
      stream: false,
      includeUsage: false,
      maxTokens: null,
      n: 1,
      session: null,
      cacheSalt: '',
    });
    expect(
      routed({
        model: 'm',
        stream: true,
        stream_options: { include_usage: true },
        max_output_tokens: 9,
        n: 2,
        user: 'u',
        prompt_cache_key: 'k',
        cache_salt: 's',
      }),
    ).toMatchObject({ stream: true, includeUsage: true, maxTokens: 9, n: 2, session: 'k', cacheSalt: 's' });
    expect(routed({ model: 'm', user: 'u', prompt_cache_key: '' }).session).toBe('u');
  });

  it('are absent when malformed, except the model', () => {
    const odd = { model: 'm', stream: 'yes', stream_options: 3, max_tokens: -2, n: 'x', user: {}, cache_salt: 3 };
    expect(routed(odd)).toEqual(routed({ model: 'm' }));
    for (const model of [undefined, null, 3, '', ['m']]) {
      expect(() => routed({ model })).toThrow(expect.objectContaining({ status: 400, param: 'model' }));
    }
  });
});

describe('latency targets', () => {
  const targets = (headers: Record<string, string>) => {
    const { sloTpotUs, sloTtftUs } = facts({ model: 'm' }, headers);
    return [sloTtftUs, sloTpotUs];
  };

  it('are read in milliseconds, by their own names or those of llm-d', () => {
    expect(targets({ 'x-slo-ttft-ms': '250', 'x-slo-tpot-ms': '12.5' })).toEqual([250_000, 12_500]);
    expect(targets({ 'x-llm-d-slo-ttft-ms': '80', 'x-llm-d-slo-tpot-ms': '9' })).toEqual([80_000, 9000]);
    expect(targets({ 'x-slo-ttft-ms': '250', 'x-llm-d-slo-ttft-ms': '80' })).toEqual([250_000, 0]);
  });

  it.each(['', '0', '-5', '1e3', '250ms', '3600001', 'NaN', 'Infinity', '9'.repeat(400)])(
    'are ignored when the value is %j',
    (value) => {
      expect(targets({ 'x-slo-ttft-ms': value, 'x-slo-tpot-ms': value })).toEqual([0, 0]);
    },
  );
});
