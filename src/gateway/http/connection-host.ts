import type { HttpConnection } from './http-connection.js';
import type { HttpRequest } from './http-request.js';
import type { HttpResponse } from './http-response.js';
import type { SharedReader } from './request-reader.js';
import type { ResponseWriter } from './response-writer.js';

/** How long clients may take to send their headers and their whole request, and to go on reading a response. */
export interface ClientTimes {
  headersMs: number;
  bodyMs: number;
  idleMs: number;
}

/** What a connection needs of the port that it came in by. */
export interface ConnectionHost {
  readonly reader: SharedReader;
  readonly writer: ResponseWriter;
  readonly isSecure: boolean;
  /** Connections end with the answers that are due. */
  readonly isStopping: boolean;
  /** The most that is read of what nobody wants. */
  readonly discardBytes: number;
  handle(request: HttpRequest, response: HttpResponse): void;
  /** Somebody whose request is no HTTP, or none that everybody would read alike, was told so. */
  refused(status: number): void;
  /** Something that should not happen did. */
  fault(error: unknown): void;
  left(connection: HttpConnection): void;
}
