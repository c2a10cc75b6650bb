import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { unreadableCa } from './errors.js';

export interface RayRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  /** Longer responses are cut there: the caller decides whether that is an error. */
  readonly mostBytes: number;
  readonly timeoutMs: number;
}

export interface RayResponse {
  readonly status: number;
  readonly body: Buffer;
  /** There was more. */
  readonly isCut: boolean;
}

/** Sends one request to a dashboard. Throws where there is no response. */
export interface RayTransport {
  send(request: RayRequest): Promise<RayResponse>;
  /** Aborts what is under way. */
  close(): Promise<void>;
}

/** How a dashboard is reached. */
export interface RayAccess {
  /** `http://head:8265`, without a slash at the end; it may have a path. */
  readonly url: string;
  readonly token: string | null;
  /** A file of certificates to trust instead of the system's. */
  readonly caFile: string | null;
}

/** Over HTTP, with the token in every request. Redirects are not followed: they could carry the token elsewhere. */
export function httpTransport({ caFile, token, url }: RayAccess): RayTransport {
  const agent = new Agent({
    connections: 8,
    connect: { timeout: 10_000, ...(caFile === null ? {} : { ca: certificatesOf(caFile) }) },
  });
  const { origin, pathname } = new URL(url);
  const prefix = pathname === '/' ? '' : pathname;
  return {
    async send({ body, method, mostBytes, path, timeoutMs }) {
      const response = await agent.request({
        ...{ origin, path: `${prefix}${path}`, method },
        headers: {
          'user-agent': 'twinyard',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > mostBytes) break;
      }
      const all = Buffer.concat(chunks);
      return { status: response.statusCode, body: all.subarray(0, mostBytes), isCut: length > mostBytes };
    },
    close: () => agent.destroy(),
  };
}

/** A transport whose token and certificates may change. */
export class ChangingTransport implements RayTransport {
  readonly #connect: (access: RayAccess) => RayTransport;
  #access: RayAccess;
  #inner: RayTransport;

  constructor(access: RayAccess, connect = httpTransport) {
    this.#connect = connect;
    this.#access = access;
    this.#inner = connect(access);
  }

  send(request: RayRequest): Promise<RayResponse> {
    return this.#inner.send(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Requests that are under way are aborted, unless nothing has changed. */
  use(access: RayAccess): void {
    if (access.token === this.#access.token && access.caFile === this.#access.caFile) return;
    const old = this.#inner;
    this.#inner = this.#connect(access);
    this.#access = access;
    void old.close();
  }
}

function certificatesOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableCa(file, error);
  }
}
