import { ApiError, errorCode } from '../../protocol/errors.js';
import { withUsageRequested } from '../../protocol/with-usage-requested.js';
import type { AccessKey } from '../access/keys/access-key.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { draining, internalError, methodWrong, pathUnknown } from '../errors.js';
import type { EndpointDirectory } from '../fleet/endpoint-directory.js';
import { type HttpRequest, readBody } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import { Exchange } from '../proxy/exchange.js';
import type { ExchangeHost, RequestServices } from '../proxy/exchange-host.js';
import { sendError } from '../proxy/send-error.js';
import { readFacts, requestIdOf } from '../request/request-facts.js';
import type { Tracing } from '../telemetry/tracing/tracing.js';
import type { RequestHandler } from './listener.js';
import { modelsRoute, type PublicRoute, publicRoute } from './public-route.js';

/** What the public port needs of the gateway. */
export interface PublicHost extends ExchangeHost {
  readonly config: Pick<GatewayConfig, 'limits' | 'retries'>;
  readonly services: RequestServices & {
    /** Null where requests are not traced. */
    readonly tracing: Tracing | null;
  };
  /** Whether at least one replica can take a request, and the gateway is not shutting down. */
  readonly isReady: boolean;
  readonly directory: EndpointDirectory;
  /** @param code the error code of the response, a constant */
  refused(status: number, id: string, code: string, client: string): void;
}

/** Handles the public port: the OpenAI API, liveness and readiness. */
export function publicHandler(host: PublicHost): RequestHandler {
  return (request, response) => {
    const { url } = request;
    const route = publicRoute(url);
    if (route === null) respondPlain(host, request, response, url);
    else if (request.method !== 'POST') refuseMethod(host, request, response, url, 'POST');
    else proxy(host, request, response, route);
  };
}

function proxy(host: PublicHost, request: HttpRequest, response: HttpResponse, route: PublicRoute): void {
  if (host.isDraining) {
    refuse(host, request, response, draining());
    return;
  }
  const key = keyOf(host, request);
  if (key instanceof ApiError) {
    refuse(host, request, response, key);
    return;
  }
  readBody(request, host.config.limits.bodyBytes, (error, body) => {
    if (error === null) begin(host, request, response, route, key, body);
    else refuse(host, request, response, error);
  });
}

/** The key of a request, null where none is required, or why it is refused. */
function keyOf({ services }: PublicHost, request: HttpRequest): AccessKey | ApiError | null {
  const { access } = services;
  if (access === null) return null;
  return access.check(request.header('authorization'), request.header('x-api-key'), request.address);
}

function begin(
  host: PublicHost,
  request: HttpRequest,
  response: HttpResponse,
  route: PublicRoute,
  key: AccessKey | null,
  body: Buffer,
): void {
  try {
    const facts = readFacts(requestIdOf(request), route.kind, request, body);
    if (key !== null) {
      const refusal = key.modelRefusal(facts.model);
      if (refusal !== null) throw refusal;
    }
    const endpoint = host.directory.find(facts.model, route.endpoint, route.workspace);
    if (key !== null) {
      facts.keyId = key.id;
      facts.tenant = key.tenant;
      facts.sloClass = key.allowedClass(facts.sloClass, endpoint.flow.priorities);
    }
    const asking = facts.hidesUsage ? withUsageRequested(body, facts.body.stream_options !== undefined) : null;
    const { tracing } = host.services;
    const trace = tracing === null ? null : tracing.begin(request.header('traceparent'), request.header('tracestate'));
    const exchange = new Exchange(host, endpoint, facts, {
      request,
      response,
      path: route.path,
      body: asking ?? body,
      strips: asking !== null,
      key,
      trace,
    });
    exchange.start();
  } catch (problem) {
    if (!(problem instanceof ApiError)) host.fault(problem);
    refuse(host, request, response, problem instanceof ApiError ? problem : internalError());
  }
}

/**
 * A response without a replica.
 * @param more headers, flat
 */
function refuse(
  host: PublicHost,
  request: HttpRequest,
  response: HttpResponse,
  error: ApiError,
  more: readonly string[] = [],
): void {
  const id = requestIdOf(request);
  host.refused(error.status, id, errorCode(error), request.address);
  if (host.isDraining) response.shouldKeepAlive = false;
  sendError(response, error, id, more);
}

function refuseMethod(
  host: PublicHost,
  request: HttpRequest,
  response: HttpResponse,
  path: string,
  allowed: string,
): void {
  refuse(host, request, response, methodWrong(request.method, path, allowed), ['allow', allowed]);
}

function respondPlain(host: PublicHost, request: HttpRequest, response: HttpResponse, url: string): void {
  const path = url.split('?', 1)[0]!;
  const answer = plainResponse(host, path);
  if (answer === null) refuse(host, request, response, pathUnknown(request.method, path));
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuseMethod(host, request, response, path, 'GET, HEAD');
  } else {
    try {
      const [status, body] = answer(request);
      sendJson(response, status, body);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      refuse(host, request, response, problem);
    }
  }
}

type PlainResponse = (request: HttpRequest) => [status: number, body: object];

/** The handler of a path that needs no replica, or null; it throws an ApiError for what it refuses. */
function plainResponse(host: PublicHost, path: string): PlainResponse | null {
  if (path === '/health') return () => [200, { status: 'alive' }];
  if (path === '/ready') return () => (host.isReady ? [200, { status: 'ready' }] : [503, { status: 'not ready' }]);
  if (path === '/v1/models') return (request) => models(host, request, () => host.directory.models());
  const named = modelsRoute(path);
  if (named === null) return null;
  return (request) => models(host, request, () => host.directory.modelsOf(named.endpoint, named.workspace));
}

/** Without a permitted key a client learns neither the models nor whether an endpoint exists. */
function models(host: PublicHost, request: HttpRequest, all: () => string[]): [number, object] {
  const key = keyOf(host, request);
  if (key instanceof ApiError) throw key;
  return [200, modelList(key === null ? all() : key.visible(all()))];
}

export function sendJson(response: HttpResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, ['content-type', 'application/json', 'content-length', String(bytes.length)]);
  response.end(bytes);
}

function modelList(names: readonly string[]): object {
  return { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'twinyard' })) };
}
