import { describe, expect, it } from 'vitest';
import { refusalOf } from './refusal.js';
import { ageText } from './time-text.js';

const URL = 'http://127.0.0.1:1';

describe('what a server refuses', () => {
  it.each([
    ['no control plane', 502, null, 'SERVER_OTHER'],
    ['no JSON of ours', 404, { message: 'x' }, 'SERVER_OTHER'],
    ['a gateway without a store', 404, { error: 'there is no /api/v1/endpoints here' }, 'SERVER_OTHER'],
    ['a wrong token', 401, { error: 'x' }, 'SERVER_TOKEN'],
    ['too little', 403, { error: 'x', code: 'API_FORBIDDEN' }, 'SERVER_FORBIDDEN'],
    ['a conflict', 409, { error: 'x', code: 'RESOURCE_CONFLICT', differences: [] }, 'RESOURCE_CONFLICT'],
    ['a store that is away', 503, { error: 'x', code: 'STORE_UNREACHABLE' }, 'STORE_UNREACHABLE'],
    ['problems of another shape', 422, { error: 'x', code: 'C', problems: [{}] }, 'C'],
    ['no problems', 422, { error: 'x', code: 'C', problems: [] }, 'C'],
  ])('%s', (_, status, body, code) => {
    expect(refusalOf(URL, status, body)).toMatchObject({ code });
  });

  it('as wrong input is an error with its place, and several are told together', () => {
    const one = { code: 'A', place: 'p', problem: 'is odd', hint: 'make it even' };
    const said = { error: 'x', code: 'A' };
    expect(refusalOf(URL, 422, { ...said, problems: [one] })).toMatchObject({ name: 'InputError', ...one });
    expect(refusalOf(URL, 422, { ...said, problems: [one, { ...one, code: 'B' }] })).toMatchObject({
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
