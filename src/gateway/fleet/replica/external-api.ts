import { withModel } from '../../../protocol/with-model.js';
import type { ReplicaConfig } from '../../config/gateway-config.js';
import type { PageRequest } from '../../upstream/page-client.js';
import type { RequestParts } from '../../upstream/request-encoder.js';
import type { ExternalConfig } from '../managed-routes.js';

/** The path prefix of requests for replicas. */
const OWN_PREFIX = '/v1';

/**
 * The client headers that an upstream gets. It belongs to another company: anything that may be a key, a cookie or an
 * address of the client is removed, under any name.
 */
const PASSED_ON = new Set([
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'idempotency-key',
  'openai-beta',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-request-id',
]);

/** Headers about the upstream's host or the operator's account: from the gateway they would mean something else. */
const KEPT_BACK = new Set(['alt-svc', 'set-cookie', 'set-cookie2', 'strict-transport-security']);
const LIMITS_PREFIX = 'x-ratelimit-';

/** An external API, and how requests and responses are rewritten for it and for clients. */
export class ExternalApi {
  #config!: ExternalConfig;
  #renames!: ReadonlyMap<string, string>;
  #authorization!: readonly string[];

  constructor(config: ExternalConfig) {
    this.configure(config);
  }

  /** Applies from the next request on. Returns whether the credential has changed. */
  configure(config: ExternalConfig): boolean {
    const isOther = this.#config !== undefined && this.#config.credential !== config.credential;
    this.#config = config;
    this.#renames = new Map(Object.entries(config.renames));
    this.#authorization = config.credential === null ? [] : ['authorization', `Bearer ${config.credential}`];
    return isOther;
  }

  /** A page as the upstream gets the request for it. */
  page(path: string): PageRequest {
    return { path: this.#pathOf(path), headers: [...this.#authorization] };
  }

  /** The upstream's own prefix takes the place of `/v1`; paths without it follow the prefix. */
  #pathOf(path: string): string {
    return this.#config.prefix + (path.startsWith(`${OWN_PREFIX}/`) ? path.slice(OWN_PREFIX.length) : path);
  }

  /** A request as the upstream gets it. */
  request({ body, headers, method, path }: RequestParts): RequestParts {
    const passed = [...this.#authorization];
    for (let i = 0; i + 1 < headers.length; i += 2) {
      if (PASSED_ON.has(headers[i]!.toLowerCase())) passed.push(headers[i]!, headers[i + 1]!);
    }
    return {
      path: this.#pathOf(path),
      method,
      headers: passed,
      body: this.#renames.size === 0 || body.length === 0 ? body : withModel(body, this.#renames),
    };
  }
}

/** The headers of an upstream's response, flat, without what is not for clients. */
export function headersForClients(raw: readonly string[]): string[] {
  return raw.filter((_, i) => {
    const name = raw[i - (i % 2)]!.toLowerCase();
    return !KEPT_BACK.has(name) && !name.startsWith(LIMITS_PREFIX);
  });
}

/** Statuses worth another upstream: they are probably not the fault of the request. */
export function isUpstreamsOwn(status: number): boolean {
  return status >= 500 || status === 403 || status === 408 || status === 429;
}

/** The parts of an upstream's address. Its path takes the place of `/v1`; an address without one has `/v1`. */
export function upstreamAddress(address: string): Pick<ReplicaConfig, 'url'> & Pick<ExternalConfig, 'prefix'> {
  const { origin, pathname } = new URL(address);
  const prefix = pathname.replace(/\/+$/, '');
  return { url: origin, prefix: prefix === '' ? '/v1' : prefix };
}
