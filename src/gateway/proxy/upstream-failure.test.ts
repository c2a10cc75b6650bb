import { expect, it } from 'vitest';
import { upstreamFailure } from './upstream-failure.js';

it.each([
  ['UPSTREAM_CONNECT_TIMEOUT', 504, 'gave no connection in time.', 'no connection in time'],
  ['UPSTREAM_HEADERS_TIMEOUT', 504, 'gave no first byte in time.', 'no first byte in time'],
  ['ECONNREFUSED', 502, 'broke off: it takes no connections.', 'it takes no connections'],
  ['ECONNRESET', 502, 'broke off: the connection was cut.', 'the connection was cut'],
  ['EPIPE', 502, 'broke off: the connection was cut.', 'the connection was cut'],
  ['UPSTREAM_CUT', 502, 'broke off: the connection was cut.', 'the connection was cut'],
  ['UPSTREAM_MALFORMED', 502, 'broke off: its response is not valid HTTP.', 'its response is not valid HTTP'],
  ['UPSTREAM_HEAD_TOO_LARGE', 502, 'broke off: its response is not valid HTTP.', 'its response is not valid HTTP'],
  [
    'UPSTREAM_BUSY',
    502,
    'broke off: it has all the connections it may have.',
    'it has all the connections it may have',
  ],
  ['UPSTREAM_EMPTY', 502, 'broke off: its response has no body.', 'its response has no body'],
  ['UPSTREAM_NOT_JSON', 502, 'broke off: its response is not JSON.', 'its response is not JSON'],
  ['EHOSTUNREACH', 502, 'broke off: EHOSTUNREACH.', 'EHOSTUNREACH'],
  [undefined, 502, 'broke off: Error.', 'Error'],
])('%s becomes %i', (code, status, message, cause) => {
  const failure = upstreamFailure('r', Object.assign(new Error('x'), code === undefined ? {} : { code }));
  expect([failure.error.status, failure.error.message]).toEqual([status, `Replica r ${message}`]);
  expect(failure.cause).toBe(cause);
});

it.each(['UPSTREAM_BUSY', 'UPSTREAM_BAD_REQUEST', 'UPSTREAM_CLOSED'])(
  '%s does not count against the replica',
  (code) => {
    expect(upstreamFailure('r', Object.assign(new Error('x'), { code })).isReplicas).toBe(false);
    expect(upstreamFailure('r', Object.assign(new Error('x'), { code: 'ECONNRESET' })).isReplicas).toBe(true);
  },
);
