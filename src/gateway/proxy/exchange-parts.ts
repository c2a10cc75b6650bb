import type { AccessKey } from '../access/access-key.js';
import type { HttpRequest } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import type { TraceContext } from '../telemetry/tracing/trace-context.js';

/** What a request came with, as far as it is passed on. */
export interface ExchangeParts {
  request: HttpRequest;
  response: HttpResponse;
  path: string;
  body: Buffer;
  /** The usage at the end of the stream was asked for by the gateway: the client does not get it. */
  strips: boolean;
  /** Null where no keys are asked for. */
  key: AccessKey | null;
  /** Null where nobody traces it. */
  trace: TraceContext | null;
}
