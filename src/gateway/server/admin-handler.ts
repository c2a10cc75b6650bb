import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { InputError } from '../../kernel/errors.js';
import type { Gateway } from '../gateway.js';
import { metricsText } from './metrics-text.js';
import { sendJson } from './public-handler.js';

/** Answers the admin port: metrics for everybody who can reach it, the API for those who have the token. */
export function adminHandler(gateway: Gateway): RequestListener {
  return (request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    if (path === '/health') sendJson(response, 200, { status: 'alive' });
    else if (path === '/metrics') sendText(response, metricsText(gateway));
    else if (!path.startsWith('/api/')) sendJson(response, 404, { error: `there is no ${path} here` });
    else if (!hasToken(request, gateway.adminToken))
      sendJson(response, 401, { error: 'the admin token is missing or wrong' });
    else api(gateway, request, response, path);
  };
}

function api(gateway: Gateway, request: IncomingMessage, response: ServerResponse, path: string): void {
  if (path === '/api/reload' && request.method === 'POST') {
    reload(gateway, response);
    return;
  }
  if (request.method !== 'GET') {
    sendJson(response, 405, { error: `${path} does not take ${request.method}` });
    return;
  }
  const decision = /^\/api\/decisions\/(.+)$/.exec(path);
  if (decision !== null) {
    const id = decodeURIComponent(decision[1]!);
    const record = gateway.ring.find(id);
    if (record === undefined) sendJson(response, 404, { error: `no decision about '${id}' is remembered` });
    else sendJson(response, 200, record);
  } else if (path === '/api/decisions') sendJson(response, 200, gateway.ring.latest(50));
  else if (path === '/api/replicas') sendJson(response, 200, replicaList(gateway));
  else if (path === '/api/config') sendJson(response, 200, gateway.config);
  else sendJson(response, 404, { error: `there is no ${path} here` });
}

function reload(gateway: Gateway, response: ServerResponse): void {
  try {
    gateway.reloadConfig();
    sendJson(response, 200, { status: 'reloaded' });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    sendJson(response, 400, { error: error.message });
  }
}

function replicaList(gateway: Gateway): object[] {
  return [...gateway.endpoints.values()].flatMap((endpoint) =>
    endpoint.replicas.map((replica) => ({
      endpoint: endpoint.name,
      id: replica.id,
      url: replica.url,
      engine: replica.engine,
      state: replica.state,
      problem: replica.problem,
      breaker: replica.breaker.isOpen ? 'open' : 'closed',
      models: [...replica.models],
      in_flight: endpoint.inFlightOf(replica),
      active: replica.active,
      signals: replica.signals,
    })),
  );
}

/** Compared in constant time: how far a guess is right must not show. */
function hasToken(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  response.end(text);
}
