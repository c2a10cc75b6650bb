import { describe, expect, it } from 'vitest';
import { checkKey, checkSloClass } from './check-key.js';
import type { KeySettings } from './key-record.js';

describe('checkKey', () => {
  it('accepts valid settings', () => {
    const limits = { '*': { requestsPerMinute: 1, tokensPerMonth: 1e12, dollarsPerDay: 0.01 }, 'llama/8b': {} };
    const all = {
      name: 'Web shop',
      tenant: 'a/b',
      models: ['m'],
      maxSloClass: 'batch',
      role: 'admin',
      limits,
    } as const;
    expect(() => checkKey({ ...all, expiresAt: 0 })).not.toThrow();
    expect(() => checkKey({ models: null, maxSloClass: null, expiresAt: null })).not.toThrow();
    expect(() => checkKey({})).not.toThrow();
  });

  it.each<[object, string]>([
    [{ name: '' }, 'key (name): is empty; give text of at most 200 characters'],
    [{ name: 'x'.repeat(201) }, 'key (name): is too long'],
    [{ tenant: 'a\u0000b' }, "key (tenant): 'a\\u0000b' has control characters"],
    [{ models: [] }, 'key (models): is empty; give a list of at most 1000'],
    [{ models: [' '] }, "key (models[0]): ' ' is empty"],
    [{ models: Array(1001).fill('m') }, 'key (models): is too long; give a list of at most 1000'],
    [{ maxSloClass: '' }, 'key (max_slo_class): is empty'],
    [{ role: 'root' }, "key (role): unknown value 'root'; known: none, viewer, operator, admin"],
    [{ expiresAt: 0.5 }, 'key (expires_at): 0.5 is not text; give a time'],
    [{ expiresAt: 8.7e15 }, 'key (expires_at): 8700000000000000 is not text'],
    [{ limits: { '': {} } }, 'key (limits.): the name is not valid; give text of at most 200 characters'],
    [{ limits: { m: { requestsPerHour: 3 } } }, "key (limits.m.requests_per_hour): unknown key 'requests_per_hour'"],
    [
      { limits: { m: { concurrent: 0 } } },
      'key (limits.m.concurrent): 0 is too small; give a whole number of at least 1',
    ],
    [{ limits: { '*': { tokensPerDay: 1.5 } } }, 'key (limits.*.tokens_per_day): 1.5 is not a whole number'],
    [{ limits: { '*': { dollarsPerDay: Number.NaN } } }, 'NaN is not a number'],
    [{ limits: { '*': { dollarsPerMonth: 1e7 } } }, '10000000 is too large; give a number above 0, at most 9000000'],
    [{ limits: { '*': { dollarsPerMonth: 0 } } }, '0 is too small'],
  ])('refuses %j', (settings, message) => {
    const check = () => checkKey(settings as Partial<KeySettings>);
    expect(check).toThrowError(expect.objectContaining({ code: 'KEY_INVALID' }));
    expect(check).toThrow(message);
  });

  it('names the place that was given', () => {
    expect(() => checkKey({ name: '' }, 'body')).toThrow('body (name): is empty');
  });
});

describe('checkSloClass', () => {
  const known = ['critical', 'standard', 'gold'];

  it('accepts classes that a policy defines, and any', () => {
    for (const one of ['gold', 'critical', null, undefined]) {
      expect(() => checkSloClass(one, known, 'body (max_slo_class)')).not.toThrow();
    }
  });

  it.each([
    [
      'golf',
      "body (max_slo_class): no policy defines the class 'golf'; did you mean 'gold'? known: critical, standard",
    ],
    ['night', "no policy defines the class 'night'; known: critical, standard, gold"],
    ['constructor', "no policy defines the class 'constructor'"],
    ['', 'body (max_slo_class): is empty'],
    ['x'.repeat(201), 'is too long'],
  ])('refuses %s', (given, message) => {
    const check = () => checkSloClass(given, known, 'body (max_slo_class)');
    expect(check).toThrowError(expect.objectContaining({ code: 'KEY_INVALID' }));
    expect(check).toThrow(message);
  });
});
