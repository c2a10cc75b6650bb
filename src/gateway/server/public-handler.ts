import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { ApiError, errorCode } from '../../protocol/errors.js';
import { withUsageAsked } from '../../protocol/with-usage-asked.js';
import type { AccessKey } from '../access/access-key.js';
import { draining, internalError, methodWrong, pathUnknown } from '../errors.js';
import type { Endpoint } from '../fleet/endpoint.js';
import { Exchange } from '../proxy/exchange.js';
import type { ExchangeHost } from '../proxy/exchange-host.js';
import { sendError } from '../proxy/send-error.js';
import { announcedLength, readBody } from '../request/read-body.js';
import { readFacts, requestIdOf } from '../request/request-facts.js';
import type { Tracing } from '../telemetry/tracing/tracing.js';
import { type ApiRoute, apiRoute, modelsRoute } from './api-route.js';
import { discardBody } from './discard-body.js';

/** What the public port needs of the gateway. */
export interface PublicHost extends ExchangeHost {
  readonly bodyBytes: number;
  /** Whether at least one replica could take a request, and requests are wanted. */
  readonly isReady: boolean;
  models(): string[];
  /** The same of one endpoint; an ApiError when there is none. */
  modelsOf(endpoint: string, workspace: string): string[];
  /** The endpoint of this name or, without one, an endpoint that serves the model; an ApiError when there is none. */
  endpointFor(model: string, name: string | null, workspace: string | null): Endpoint;
  began(exchange: Exchange): void;
  /** @param code what the client was told, as a constant */
  refused(status: number, id: string, code: string, client: string): void;
  /** Null where nobody traces requests. */
  readonly tracing: Tracing | null;
}

/** Answers the public port: the OpenAI surface, and whether the gateway is alive and ready. */
export function publicHandler(host: PublicHost): RequestListener {
  return (request, response) => {
    const url = request.url!;
    const route = apiRoute(url);
    if (route === null) answerPlain(host, request, response, url);
    else if (request.method !== 'POST') refuseMethod(host, request, response, url, 'POST');
    else proxy(host, request, response, route);
  };
}

/** For those who send `expect: 100-continue`: a body that would be refused, or is nobody's, need not be sent at all. */
export function continueHandler(host: PublicHost): RequestListener {
  const handler = publicHandler(host);
  return (request, response) => {
    const isWanted = announcedLength(request) <= host.bodyBytes && !(keyOf(host, request) instanceof ApiError);
    if (isWanted) response.writeContinue();
    else response.shouldKeepAlive = false;
    handler(request, response);
  };
}

function proxy(host: PublicHost, request: IncomingMessage, response: ServerResponse, route: ApiRoute): void {
  if (host.isDraining) {
    refuse(host, request, response, draining());
    return;
  }
  const key = keyOf(host, request);
  if (key instanceof ApiError) {
    refuse(host, request, response, key);
    return;
  }
  readBody(request, host.bodyBytes, (error, body) => {
    if (error === null) begin(host, request, response, route, key, body);
    else refuse(host, request, response, error);
  });
}

/** The key that a request came with, null where none is asked for, or why it is not let in. */
function keyOf({ access }: PublicHost, { headers, socket }: IncomingMessage): AccessKey | ApiError | null {
  if (access === null) return null;
  const apiKey = headers['x-api-key'];
  const address = socket.remoteAddress ?? '';
  return access.check(headers.authorization, typeof apiKey === 'string' ? apiKey : undefined, address);
}

function begin(
  host: PublicHost,
  request: IncomingMessage,
  response: ServerResponse,
  route: ApiRoute,
  key: AccessKey | null,
  body: Buffer,
): void {
  const { headers } = request;
  try {
    const facts = readFacts(requestIdOf(headers), route.kind, headers, body);
    if (key !== null) {
      const refusal = key.modelRefusal(facts.model);
      if (refusal !== null) throw refusal;
    }
    const endpoint = host.endpointFor(facts.model, route.endpoint, route.workspace);
    if (key !== null) {
      facts.keyId = key.id;
      facts.tenant = key.tenant;
      facts.sloClass = key.allowedClass(facts.sloClass, endpoint.flow.priorities);
    }
    const asking = facts.hidesUsage ? withUsageAsked(body, facts.body.stream_options !== undefined) : null;
    const trace = host.tracing === null ? null : host.tracing.begin(headers.traceparent, headers.tracestate);
    const exchange = new Exchange(host, endpoint, facts, {
      request,
      response,
      path: route.path,
      body: asking ?? body,
      strips: asking !== null,
      key,
      trace,
    });
    host.began(exchange);
    exchange.start();
  } catch (problem) {
    if (!(problem instanceof ApiError)) host.fault(problem);
    refuse(host, request, response, problem instanceof ApiError ? problem : internalError());
  }
}

/** An answer without a replica. */
function refuse(host: PublicHost, request: IncomingMessage, response: ServerResponse, error: ApiError): void {
  const id = requestIdOf(request.headers);
  host.refused(error.status, id, errorCode(error), request.socket.remoteAddress ?? '');
  if (host.isDraining) response.shouldKeepAlive = false;
  discardBody(request, 2 * host.bodyBytes);
  sendError(response, error, id);
}

function refuseMethod(
  host: PublicHost,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  allowed: string,
): void {
  response.setHeader('allow', allowed);
  refuse(host, request, response, methodWrong(request.method!, path, allowed));
}

function answerPlain(host: PublicHost, request: IncomingMessage, response: ServerResponse, url: string): void {
  const path = url.split('?', 1)[0]!;
  const answer = plainAnswer(host, path);
  if (answer === null) refuse(host, request, response, pathUnknown(request.method!, path));
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

type PlainAnswer = (request: IncomingMessage) => [status: number, body: object];

/** What answers to a path without a replica; it throws an ApiError for what it refuses. Null when nothing does. */
function plainAnswer(host: PublicHost, path: string): PlainAnswer | null {
  if (path === '/health') return () => [200, { status: 'alive' }];
  if (path === '/ready') return () => (host.isReady ? [200, { status: 'ready' }] : [503, { status: 'not ready' }]);
  if (path === '/v1/models') return (request) => models(host, request, () => host.models());
  const named = modelsRoute(path);
  if (named === null) return null;
  return (request) => models(host, request, () => host.modelsOf(named.endpoint, named.workspace));
}

/** Nobody learns of models, nor whether an endpoint is there, who may not ask. */
function models(host: PublicHost, request: IncomingMessage, all: () => string[]): [number, object] {
  const key = keyOf(host, request);
  if (key instanceof ApiError) throw key;
  return [200, modelList(key === null ? all() : key.visible(all()))];
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))]);
  response.end(text);
}

function modelList(names: readonly string[]): object {
  return { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'twinyard' })) };
}
