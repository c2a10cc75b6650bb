import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { ApiError } from '../../protocol/errors.js';
import { draining, internalError, methodWrong, pathUnknown } from '../errors.js';
import type { Endpoint } from '../fleet/endpoint.js';
import { Exchange } from '../proxy/exchange.js';
import type { ExchangeHost } from '../proxy/exchange-host.js';
import { sendError } from '../proxy/send-error.js';
import { announcedLength, readBody } from '../request/read-body.js';
import { readFacts, requestIdOf } from '../request/request-facts.js';
import { type ApiRoute, apiRoute } from './api-route.js';

/** What the public port needs of the gateway. */
export interface PublicHost extends ExchangeHost {
  readonly bodyBytes: number;
  /** Whether at least one replica could take a request, and requests are wanted. */
  readonly isReady: boolean;
  models(): string[];
  /** The endpoint of this name or, without one, an endpoint that serves the model; an ApiError when there is none. */
  endpointFor(model: string, name: string | null): Endpoint;
  began(exchange: Exchange): void;
  refused(status: number): void;
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

/** For those who send `expect: 100-continue`: a body that would be refused need not be sent at all. */
export function continueHandler(host: PublicHost): RequestListener {
  const handler = publicHandler(host);
  return (request, response) => {
    if (announcedLength(request) <= host.bodyBytes) response.writeContinue();
    else response.shouldKeepAlive = false;
    handler(request, response);
  };
}

function proxy(host: PublicHost, request: IncomingMessage, response: ServerResponse, route: ApiRoute): void {
  if (host.isDraining) {
    refuse(host, request, response, draining());
    return;
  }
  readBody(request, host.bodyBytes, (error, body) => {
    if (error !== null) {
      refuse(host, request, response, error);
      return;
    }
    try {
      const facts = readFacts(requestIdOf(request.headers), route.kind, request.headers, body);
      const endpoint = host.endpointFor(facts.model, route.endpoint);
      const exchange = new Exchange(host, endpoint, facts, { request, response, path: route.path, body });
      host.began(exchange);
      exchange.start();
    } catch (problem) {
      if (problem instanceof ApiError) refuse(host, request, response, problem);
      else {
        host.fault(problem);
        refuse(host, request, response, internalError());
      }
    }
  });
}

/** An answer without a replica. */
function refuse(host: PublicHost, request: IncomingMessage, response: ServerResponse, error: ApiError): void {
  host.refused(error.status);
  if (host.isDraining) response.shouldKeepAlive = false;
  if (!request.complete) throwAway(request, 2 * host.bodyBytes);
  sendError(response, error, requestIdOf(request.headers));
}

/**
 * What is left of a body is read all the same: a connection that is closed under its sender takes the answer with it. But
 * there is an end to everything.
 */
function throwAway(request: IncomingMessage, most: number): void {
  let left = most;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
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
  const answers: Record<string, () => [number, object]> = {
    '/health': () => [200, { status: 'alive' }],
    '/ready': () => (host.isReady ? [200, { status: 'ready' }] : [503, { status: 'not ready' }]),
    '/v1/models': () => [200, modelList(host.models())],
  };
  const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
  if (answer === undefined) refuse(host, request, response, pathUnknown(request.method!, path));
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuseMethod(host, request, response, path, 'GET, HEAD');
  } else {
    const [status, body] = answer();
    sendJson(response, status, body);
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))]);
  response.end(text);
}

function modelList(names: readonly string[]): object {
  return { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'twinyard' })) };
}
