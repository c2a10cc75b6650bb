import { expect, it } from 'vitest';
import { upstreamFailure } from './upstream-failure.js';

it.each([
  ['UND_ERR_CONNECT_TIMEOUT', 504, 'Replica r gave no connection in time.'],
  ['UND_ERR_HEADERS_TIMEOUT', 504, 'Replica r gave no first byte in time.'],
  ['UND_ERR_BODY_TIMEOUT', 504, 'Replica r gave no further byte in time.'],
  ['ECONNREFUSED', 502, 'Replica r broke off: it takes no connections.'],
  ['ECONNRESET', 502, 'Replica r broke off: the connection was cut.'],
  ['EPIPE', 502, 'Replica r broke off: the connection was cut.'],
  ['UND_ERR_SOCKET', 502, 'Replica r broke off: the connection was cut.'],
  ['HPE_INVALID_CONSTANT', 502, 'Replica r broke off: HPE_INVALID_CONSTANT.'],
  [undefined, 502, 'Replica r broke off: Error.'],
])('%s becomes %i', (code, status, message) => {
  const failure = upstreamFailure('r', Object.assign(new Error('x'), code === undefined ? {} : { code }));
  expect([failure.status, failure.message]).toEqual([status, message]);
});
