import { type BlockList, isIP, isIPv6 } from 'node:net';
import { ApiError } from '../../protocol/errors.js';
import type { HttpConfig } from '../config/gateway-config.js';
import { proxyList } from '../config/proxy-list.js';
import { shown } from '../errors.js';
import type { HttpRequest } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';

/** Names that public DNS does not resolve: a page of another site cannot make one point here. */
const LOCAL_ENDINGS = ['.local', '.internal', '.svc', '.home.arpa'];
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Headers of responses that a page may read besides those that are always readable. */
const EXPOSED = 'retry-after, x-request-id, x-twinyard-replica, x-twinyard-decision';
const PREFLIGHT_SECONDS = '600';

const hostUnknown = (name: string) =>
  new ApiError(
    'forbidden',
    `'${shown(name)}' is not a known name of this gateway: add it to http.hosts, or use an IP address.`,
  );

const originUnknown = (origin: string) =>
  new ApiError('forbidden', `Pages of ${shown(origin)} may not use this gateway: add the origin to http.cors_origins.`);

/**
 * Decides from which web pages a port accepts requests, and who the client behind a proxy is. Without a key anything
 * that reaches the port is served: pages of other sites, which a browser lets send requests to loopback addresses, are
 * kept out by their `origin`, and names that were rebound to an address of this machine by their `host`.
 */
export class Door {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #isLoopback: boolean;
  readonly #proxies: BlockList | null;
  /** The `host` accepted last: the next is most often the same. */
  #lastHost = '';

  /** @param address that the port listens on */
  constructor({ corsOrigins, hosts, trustedProxies }: HttpConfig, address: string) {
    this.#hosts = new Set([address, ...hosts].map((host) => host.toLowerCase()));
    this.#origins = new Set(corsOrigins.map((origin) => origin.toLowerCase()));
    this.#isLoopback = isLoopback(address);
    this.#proxies = trustedProxies.length === 0 ? null : proxyList(trustedProxies);
  }

  /** Why a request without a key is refused; null when it is not. */
  refusal(request: HttpRequest): ApiError | null {
    const host = request.header('host');
    if (host !== undefined && host !== this.#lastHost) {
      if (!this.#isOwn(nameOf(host))) return hostUnknown(nameOf(host));
      this.#lastHost = host;
    }
    const origin = request.header('origin');
    return origin === undefined || this.#admits(origin, host ?? '') ? null : originUnknown(origin);
  }

  /**
   * Lets a page of a listed origin read the response. Returns true when the request was a browser's question whether it
   * may send another: the response is complete then.
   */
  crossOrigin(request: HttpRequest, response: HttpResponse): boolean {
    if (this.#origins.size === 0) return false;
    response.addHeader('vary', 'origin');
    const origin = request.header('origin');
    if (origin === undefined || !this.#isListed(origin)) return false;
    response.addHeader('access-control-allow-origin', origin);
    if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) {
      response.addHeader('access-control-expose-headers', EXPOSED);
      return false;
    }
    const headers = request.header('access-control-request-headers');
    response.writeHead(204, [
      ...['access-control-allow-methods', METHODS, 'access-control-max-age', PREFLIGHT_SECONDS],
      ...(headers === undefined ? [] : ['access-control-allow-headers', headers]),
    ]);
    response.end();
    return true;
  }

  /** Takes the client's address from `x-forwarded-for` where a trusted proxy sent the request. */
  identify(request: HttpRequest): void {
    if (this.#proxies === null || !this.#isProxy(request.address)) return;
    const given = request.allOf('x-forwarded-for');
    const chain = given === '' ? [] : given.split(',').map((one) => one.trim());
    let client = request.address;
    // The last entry is the proxy's own; those before it are as true as the address that follows them is trusted.
    for (let i = chain.length - 1; i >= 0 && isIP(chain[i]!) !== 0 && this.#isProxy(client); i--) client = chain[i]!;
    request.forwarded(client, given === '' ? request.address : `${given}, ${request.address}`);
  }

  #isProxy(address: string): boolean {
    return this.#proxies!.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  #isOwn(name: string): boolean {
    // Public DNS has no names without a dot.
    if (isIP(name) !== 0 || !name.includes('.') || isLoopback(name) || this.#hosts.has(name)) return true;
    return !this.#isLoopback && LOCAL_ENDINGS.some((ending) => name.endsWith(ending));
  }

  #admits(origin: string, host: string): boolean {
    if (this.#isListed(origin)) return true;
    if (!URL.canParse(origin)) return false;
    const page = new URL(origin);
    const name = nameOf(page.host);
    if (isLoopback(name) || this.#hosts.has(name)) return page.host !== '';
    const own = `${page.protocol}//${host}`;
    return page.host !== '' && URL.canParse(own) && new URL(own).host === page.host;
  }

  #isListed(origin: string): boolean {
    return this.#origins.has('*') || this.#origins.has(origin.toLowerCase());
  }
}

/** A host without its port, brackets and final dot. */
function nameOf(host: string): string {
  const name = host.startsWith('[') ? host.slice(1).split(']', 1)[0]! : host.split(':', 1)[0]!;
  return name.toLowerCase().replace(/\.$/, '');
}

function isLoopback(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}
