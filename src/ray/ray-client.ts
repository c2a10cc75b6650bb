import { notRay, RayStatusError, rayNotReached, rayTokenRefused, responseTooLong } from './errors.js';
import type { RayRequest, RayResponse, RayTransport } from './ray-transport.js';

const REQUEST_TIMEOUT_MS = 15_000;
const MOST_JSON_BYTES = 32 * 2 ** 20;
/** Of an error: enough for its last line. */
const MOST_SHOWN = 300;

export type RayCall = Pick<RayRequest, 'path' | 'body'> & {
  readonly method?: RayRequest['method'];
  readonly mostBytes?: number;
  readonly timeoutMs?: number;
};

/** Calls the API of one dashboard. */
export class RayClient {
  constructor(
    /** For messages. */
    readonly url: string,
    private readonly transport: RayTransport,
  ) {}

  /** The JSON of a response. Throws a `RayStatusError` when it is no success. */
  async json<T>(call: RayCall): Promise<T> {
    const { body, isCut } = await this.bytes(call);
    if (isCut) throw responseTooLong(this.url, call.path, call.mostBytes ?? MOST_JSON_BYTES);
    try {
      return JSON.parse(body.toString('utf8')) as T;
    } catch {
      throw notRay(this.url, `${call.path}: no JSON`);
    }
  }

  /** The body of a response, cut at `mostBytes`. Throws as `json`. */
  async bytes(call: RayCall): Promise<RayResponse> {
    const { body, method = 'GET', mostBytes = MOST_JSON_BYTES, path, timeoutMs = REQUEST_TIMEOUT_MS } = call;
    let response: RayResponse;
    try {
      const request = { method, path, mostBytes, timeoutMs, ...(body === undefined ? {} : { body }) };
      response = await this.transport.send(request);
    } catch (error) {
      throw rayNotReached(this.url, problemOf(error));
    }
    const { status } = response;
    if (status === 401 || status === 403) throw rayTokenRefused(this.url);
    // The proxy of a dashboard that is being started again.
    if (status === 502 || status === 503 || status === 504) throw rayNotReached(this.url, `status ${status}`);
    if (status >= 300) throw new RayStatusError(status, `${path.split('?')[0]}: ${lastLine(response.body, status)}`);
    return response;
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}

/** Errors are tracebacks of Python: the last line that says something is the message. */
function lastLine(body: Buffer, status: number): string {
  const lines = body
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim());
  const last = lines.filter((line) => /\w/.test(line)).at(-1);
  return last === undefined ? `status ${status}` : last.slice(0, MOST_SHOWN);
}

function problemOf(error: unknown): string {
  const { cause, code, message, name } = error as Error & { code?: string; cause?: Error };
  if (name === 'TimeoutError') return 'no response in time';
  return cause?.message || message || code || String(error);
}
