import { describe, expect, it } from 'vitest';
import { readKeyChanges as readChanges, readNewKeyBody as readNew, readRotation } from './read-key-body.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const readNewKeyBody = (body: string) => readNew(body, NOW);
const readKeyChanges = (body: string) => readChanges(body, NOW);
const json = (value: unknown) => JSON.stringify(value);

describe('readNewKeyBody', () => {
  it('reads everything a key can have', () => {
    const body = {
      name: 'reports',
      tenant: 'accounts',
      models: ['a', 'b'],
      max_slo_class: 'batch',
      role: 'viewer',
      expires_at: '2030-01-31T00:00:00Z',
      limits: { '*': { requests_per_minute: 10, dollars_per_day: 0.5 }, a: { tokens_per_month: 1e9, concurrent: 2 } },
    };
    expect(readNewKeyBody(json(body))).toEqual({
      name: 'reports',
      tenant: 'accounts',
      models: ['a', 'b'],
      maxSloClass: 'batch',
      role: 'viewer',
      expiresAt: Date.parse('2030-01-31T00:00:00Z'),
      limits: { '*': { requestsPerMinute: 10, dollarsPerDay: 0.5 }, a: { tokensPerMonth: 1e9, concurrent: 2 } },
    });
    expect(readNewKeyBody('{"name":"n"}')).toEqual({ name: 'n' });
  });

  it.each<[string, unknown, string]>([
    ['no body', undefined, 'body: is not valid JSON; give a key, as in {"name": "reports"}'],
    ['no JSON', '{', 'body: is not valid JSON'],
    ['YAML', 'name: x', 'body: is not valid JSON'],
    ['a list', [], 'is not a map'],
    ['nothing', null, 'is not a map'],
    ['no name', {}, 'body:1:1 (name): is missing; give a text'],
    ['an empty name', { name: '' }, '(name): is missing'],
    ['a long name', { name: 'x'.repeat(201) }, 'body (name): is too long'],
    ['a name that cannot be printed', { name: 'a\nb' }, "body (name): 'a\\nb' has control characters"],
    ['a typing error', { name: 'n', limit: {} }, "body:1:13 (limit): unknown key 'limit'; did you mean 'limits'?"],
    ['another role', { name: 'n', role: 'root' }, "(role): unknown value 'root'"],
    ['a model', { name: 'n', models: 'm' }, 'body:1:22 (models): is not a list'],
    ['no models', { name: 'n', models: [] }, '(models): is empty; give the names of the models it may ask, or null'],
    ['a model that is a number', { name: 'n', models: ['m', 5] }, 'body:1:27 (models[1]): is not a name'],
    ['an empty model', { name: 'n', models: [' '] }, "body (models[0]): ' ' is empty"],
    ['an empty class', { name: 'n', max_slo_class: '' }, "(max_slo_class): unknown value ''"],
    ['a class that nobody knows', { name: 'n', max_slo_class: 'bath' }, "unknown value 'bath'; did you mean 'batch'?"],
    ['a time that is over', { name: 'n', expires_at: '2026-01-01' }, "(expires_at): '2026-01-01' is over"],
    ['a day that does not exist', { name: 'n', expires_at: '2030-02-30' }, "(expires_at): '2030-02-30' is no time"],
    ['a number as time', { name: 'n', expires_at: 1_893_456_000_000 }, "(expires_at): '1893456000000' is no time"],
    ['an empty time', { name: 'n', expires_at: '' }, '(expires_at): is empty'],
    ['no limits', { name: 'n', limits: null }, '(limits): is empty; give limits by model'],
    ['a list of limits', { name: 'n', limits: [] }, '(limits): is empty'],
    ['limits without a model', { name: 'n', limits: { requests_per_minute: 5 } }, 'is not a map'],
    ['an unknown limit', { name: 'n', limits: { m: { rpm: 5 } } }, "(limits.m.rpm): unknown key 'rpm'"],
    ['a limit of nothing', { name: 'n', limits: { m: { concurrent: 0 } } }, '(limits.m.concurrent): 0 is too small'],
    ['half a request', { name: 'n', limits: { m: { concurrent: 1.5 } } }, '1.5 is not a whole number'],
    ['money for nothing', { name: 'n', limits: { m: { dollars_per_day: 0 } } }, '0 is too small'],
    ['a text as limit', { name: 'n', limits: { m: { concurrent: '5' } } }, "'5' is not a number"],
    ['what only the store knows', { name: 'n', hash: 'x' }, "unknown key 'hash'"],
  ])('refuses %s', (_, body, problem) => {
    const text = body === undefined ? '' : typeof body === 'string' ? body : json(body);
    expect(() => readNewKeyBody(text)).toThrowError(
      expect.objectContaining({ code: 'KEY_INVALID', message: expect.stringContaining(problem) }),
    );
  });

  it('does not repeat what is no JSON: it may be a key', () => {
    expect(() => readNewKeyBody('ty_planted')).toThrowError(/^body: is not valid JSON; ((?!planted).)*$/);
  });
});

describe('readKeyChanges', () => {
  it('takes null where it says something, and changes only what is sent', () => {
    expect(readKeyChanges('{"models":null,"max_slo_class":null,"expires_at":null}')).toEqual({
      models: null,
      maxSloClass: null,
      expiresAt: null,
    });
    expect(readKeyChanges('{"limits":{}}')).toEqual({ limits: {} });
    expect(readKeyChanges('{}')).toEqual({});
  });

  it.each(['name', 'tenant', 'role', 'limits'])('does not take null as %s', (key) => {
    expect(() => readKeyChanges(`{"${key}":null}`)).toThrowError(`(${key}): is empty`);
  });
});

describe('readRotation', () => {
  it('reads for how long the text of before is good', () => {
    expect([readRotation(''), readRotation('{}'), readRotation('{"grace_s":60}')]).toEqual([
      { graceS: 86_400 },
      { graceS: 86_400 },
      { graceS: 60 },
    ]);
    expect(readRotation('{"grace_s":0}')).toEqual({ graceS: 0 });
    expect(() => readRotation('{"grace_s":-1}')).toThrowError('(grace_s): -1 is too small');
    expect(() => readRotation('{"grace":1}')).toThrowError("unknown key 'grace'");
  });
});
