import type { HttpConnection } from './http-connection.js';
import type { HttpRequest } from './http-request.js';
import type { HttpResponse } from './http-response.js';
import type { RequestHead } from './request-head.js';
import type { ResponseWriter } from './response-writer.js';

/** How long clients may take to send their headers and their whole request, and to go on reading a response. */
export interface ClientTimes {
  headersMs: number;
  bodyMs: number;
  idleMs: number;
}

/** What a connection needs of its port. */
export interface ConnectionHost {
  readonly reader: RequestHead;
  readonly writer: ResponseWriter;
  readonly isSecure: boolean;
  /** Connections close after the responses that are due, which say so. */
  readonly isStopping: boolean;
  /** Not after a response that has said otherwise: its client may send another request. */
  readonly isHandingOver: boolean;
  /** The most that is read and discarded of a body that no handler collects. */
  readonly discardBytes: number;
  /** Pipelined requests that are read before the first response; further ones are left in the socket. */
  readonly mostAhead: number;
  handle(request: HttpRequest, response: HttpResponse): void;
  /** A request that is malformed or ambiguous was refused with this status. */
  refused(status: number): void;
  /** An error that is a bug. */
  fault(error: unknown): void;
  left(connection: HttpConnection): void;
}
