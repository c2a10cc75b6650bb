import type { MessageErrors } from '../http/message-errors.js';

/**
 * What can go wrong on the way to a replica and back. Errors of the socket keep the system's codes (ECONNREFUSED, ECONNRESET,
 * EPIPE, ...); these are the others.
 */
export type UpstreamCode =
  /** No connection in time. */
  | 'UPSTREAM_CONNECT_TIMEOUT'
  /** No answer in time: its head was not complete. */
  | 'UPSTREAM_HEADERS_TIMEOUT'
  /** The replica ended the connection before its response had ended. */
  | 'UPSTREAM_CUT'
  /** What came is not an HTTP/1.1 answer, or it is not certain where it ends. */
  | 'UPSTREAM_MALFORMED'
  /** The response's head, its trailers or the extensions of its chunks are larger than is taken. */
  | 'UPSTREAM_HEAD_TOO_LARGE'
  /** All connections are in use, and as many requests as may are waiting for one. */
  | 'UPSTREAM_BUSY'
  /** The request cannot be sent as it is. */
  | 'UPSTREAM_BAD_REQUEST'
  /** The pool takes no more requests, or was destroyed under this one. */
  | 'UPSTREAM_CLOSED';

export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';

  constructor(
    readonly code: UpstreamCode,
    message: string,
  ) {
    super(message);
  }
}

export const malformed = (problem: string) => new UpstreamError('UPSTREAM_MALFORMED', `the answer ${problem}`);

const headTooLarge = (what: string, limit: number) =>
  new UpstreamError('UPSTREAM_HEAD_TOO_LARGE', `the answer's ${what} are larger than ${limit} bytes`);

/** For those who read answers. */
export const respondErrors: MessageErrors = { malformed, tooLarge: headTooLarge };

export const cut = () => new UpstreamError('UPSTREAM_CUT', 'the connection ended before the answer did');

export const connectTimeout = () => new UpstreamError('UPSTREAM_CONNECT_TIMEOUT', 'no connection in time');

export const headersTimeout = () => new UpstreamError('UPSTREAM_HEADERS_TIMEOUT', 'no answer in time');

export const busy = (waiting: number) =>
  new UpstreamError('UPSTREAM_BUSY', `${waiting} requests wait for a connection`);

export const badRequest = () => new UpstreamError('UPSTREAM_BAD_REQUEST', 'the request cannot be written as HTTP');

export const poolClosed = () => new UpstreamError('UPSTREAM_CLOSED', 'the pool is closed');
