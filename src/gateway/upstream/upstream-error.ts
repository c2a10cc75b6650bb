import type { MessageErrors } from '../wire/message-errors.js';

/**
 * Errors of upstream requests. Errors of the socket keep the codes of the operating system (ECONNREFUSED,
 * ECONNRESET, EPIPE, ...); these are the others.
 */
export type UpstreamCode =
  /** No connection in time. */
  | 'UPSTREAM_CONNECT_TIMEOUT'
  /** The head of the response was not complete in time. */
  | 'UPSTREAM_HEADERS_TIMEOUT'
  /** The replica ended the connection before its response had ended. */
  | 'UPSTREAM_CUT'
  /** Not an HTTP/1.1 response, or one whose end is ambiguous. */
  | 'UPSTREAM_MALFORMED'
  /** The head of the response, its trailers or its chunk extensions exceed the limit. */
  | 'UPSTREAM_HEAD_TOO_LARGE'
  /** A successful response without a body. */
  | 'UPSTREAM_EMPTY'
  /** A successful response whose body is not JSON, where it has to be. */
  | 'UPSTREAM_NOT_JSON'
  /** All connections are in use, and the queue for one is full. */
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

export const malformed = (problem: string) => new UpstreamError('UPSTREAM_MALFORMED', `the response ${problem}`);

const headTooLarge = (what: string, limit: number) =>
  new UpstreamError('UPSTREAM_HEAD_TOO_LARGE', `the ${what} of the response exceed the limit of ${limit} bytes`);

export const responseErrors: MessageErrors = { malformed, tooLarge: headTooLarge };

export const cut = () => new UpstreamError('UPSTREAM_CUT', 'the connection closed before the response was complete');

export const emptyBody = () => new UpstreamError('UPSTREAM_EMPTY', 'the response has no body');

export const bodyNotJson = () => new UpstreamError('UPSTREAM_NOT_JSON', 'the response is not JSON');

export const connectTimeout = () => new UpstreamError('UPSTREAM_CONNECT_TIMEOUT', 'no connection in time');

export const headersTimeout = () => new UpstreamError('UPSTREAM_HEADERS_TIMEOUT', 'no response in time');

export const busy = (waiting: number) =>
  new UpstreamError('UPSTREAM_BUSY', `${waiting} requests are already waiting for a connection`);

export const badRequest = () => new UpstreamError('UPSTREAM_BAD_REQUEST', 'the request cannot be written as HTTP');

export const poolClosed = () => new UpstreamError('UPSTREAM_CLOSED', 'the pool is closed');
