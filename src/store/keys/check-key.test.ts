import { describe, expect, it } from 'vitest';
import { checkKey, checkSloClass } from './check-key.js';
import type { KeySettings } from './key-record.js';

describe('checkKey', () => {
  it('takes what a key can be', () => {
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
    [{ name: '' }, 'key (name): is empty; give a name'],
    [{ name: 'x'.repeat(201) }, 'key (name): is too long'],
    [{ tenant: 'a\u0000b' }, 'key (tenant): has control characters'],
    [{ models: [] }, 'key (models): no model is allowed'],
    [{ models: [' '] }, 'key (models): is empty'],
    [{ models: Array(1001).fill('m') }, 'key (models): there are 1001; give at most 1000'],
    [{ maxSloClass: '' }, 'key (max_slo_class): is empty'],
    [{ role: 'root' }, 'key (role): is not known; give one of none, viewer, operator, admin'],
    [{ expiresAt: 0.5 }, 'key (expires_at): 0.5 is no time'],
    [{ expiresAt: -1 }, 'key (expires_at): -1 is no time'],
    [{ expiresAt: 8.7e15 }, 'is no time'],
    [{ limits: { '': {} } }, 'key (limits): is empty'],
    [{ limits: { m: { requestsPerHour: 3 } } }, "key (limits of m): 'requestsPerHour' is no limit"],
    [{ limits: { m: { concurrent: 0 } } }, 'key (limits of m): concurrent cannot be 0; give a whole number above 0'],
    [{ limits: { '*': { tokensPerDay: 1.5 } } }, 'tokensPerDay cannot be 1.5'],
    [{ limits: { '*': { dollarsPerDay: Number.NaN } } }, 'dollarsPerDay cannot be NaN'],
    [{ limits: { '*': { dollarsPerMonth: 1e7 } } }, 'dollarsPerMonth cannot be 10000000; give dollars above 0'],
    [{ limits: { '*': { dollarsPerMonth: 0 } } }, 'dollarsPerMonth cannot be 0'],
  ])('refuses %j', (settings, message) => {
    const check = () => checkKey(settings as Partial<KeySettings>);
    expect(check).toThrowError(expect.objectContaining({ code: 'KEY_INVALID' }));
    expect(check).toThrow(message);
  });

  it('names the place it was told', () => {
    expect(() => checkKey({ name: '' }, 'body')).toThrow('body (name): is empty');
  });
});

describe('checkSloClass', () => {
  const known = ['critical', 'standard', 'gold'];

  it('takes what somebody defines, and any', () => {
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
