import { expect, it } from 'vitest';
import { appendLimitHeaders, durationText } from './limit-headers.js';
import { Reservation } from './reservation.js';

it('writes durations as OpenAI does', () => {
  expect([0, 1, 59, 60, 61, 360].map(durationText)).toEqual(['0s', '1s', '59s', '1m0s', '1m1s', '6m0s']);
});

it('appends the remaining limits to other headers', () => {
  const headers = ['x-request-id', 'r1'];
  const reservation = new Reservation();
  appendLimitHeaders(headers, reservation);
  expect(headers).toEqual(['x-request-id', 'r1']);
  Object.assign(reservation, { limitRequests: 60, remainingRequests: 59, resetRequests: 61 });
  appendLimitHeaders(headers, reservation);
  Object.assign(reservation, { limitRequests: -1, limitTokens: 5000, remainingTokens: 0, resetTokens: 7 });
  appendLimitHeaders(headers, reservation);
  expect(headers.slice(2)).toEqual([
    'x-ratelimit-limit-requests',
    '60',
    'x-ratelimit-remaining-requests',
    '59',
    'x-ratelimit-reset-requests',
    '1m1s',
    'x-ratelimit-limit-tokens',
    '5000',
    'x-ratelimit-remaining-tokens',
    '0',
    'x-ratelimit-reset-tokens',
    '7s',
  ]);
});
