import { describe, expect, it } from 'vitest';
import { ageText } from '../control/print/time-text.js';
import { refusalOf } from './refusal.js';

const URL = 'http://127.0.0.1:1';

const error = (code: string, more: object = {}) => ({ error: { code, message: 'x', hint: 'y', ...more } });

describe('an error response', () => {
  it.each([
    ['of another server', 502, null, 'SERVER_OTHER'],
    ['of another shape', 404, { message: 'x' }, 'SERVER_OTHER'],
    ['without a code', 404, { error: 'no such path' }, 'SERVER_OTHER'],
    ['401', 401, error('API_UNAUTHENTICATED'), 'SERVER_TOKEN'],
    ['403', 403, error('API_FORBIDDEN'), 'SERVER_FORBIDDEN'],
    ['409', 409, error('RESOURCE_CONFLICT', { differences: [] }), 'RESOURCE_CONFLICT'],
    ['503', 503, error('STORE_UNREACHABLE'), 'STORE_UNREACHABLE'],
    ['with problems of another shape', 422, error('C', { problems: [{}] }), 'C'],
    ['without problems', 422, error('C', { problems: [] }), 'C'],
  ])('%s', (_, status, body, code) => {
    expect(refusalOf(URL, status, body)).toMatchObject({ code });
  });

  it('with problems becomes an error with its place, or one for all of them', () => {
    const one = { code: 'A', place: 'p', problem: 'is odd', hint: 'make it even' };
    for (const status of [403, 422])
      expect(refusalOf(URL, status, error('A', { problems: [one] }))).toMatchObject({ name: 'InputError', ...one });
    expect(refusalOf(URL, 422, error('A', { problems: [one, { ...one, code: 'B' }] }))).toMatchObject({
      problems: [{ code: 'A' }, { code: 'B' }],
    });
  });
});

it('ages are short', () => {
  const now = Date.parse('2026-01-31T00:00:00Z');
  const texts = [-5, 0, 119, 120, 7199, 7200, 172_799, 172_800].map((seconds) =>
    ageText(new Date(now - seconds * 1000).toISOString(), now),
  );
  expect(texts).toEqual(['0s', '0s', '119s', '2m', '119m', '2h', '47h', '2d']);
  expect(ageText(undefined, now)).toBe('');
});
