import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Gateway } from '../gateway.js';
import { readBody } from '../request/read-body.js';
import { type AdminAnswer, answerAdmin } from './admin-api.js';
import { metricsText } from './metrics-text.js';
import { sendJson } from './public-handler.js';

/** Nothing that the API takes is larger. */
const MOST_BYTES = 1024 * 1024;

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
  readBody(request, MOST_BYTES, (error, body) => {
    if (error !== null) {
      response.shouldKeepAlive = false;
      sendJson(response, error.status, { error: error.message });
      return;
    }
    let answer: AdminAnswer;
    try {
      answer = answerAdmin(gateway, request.method!, path, body.toString('utf8'));
    } catch (fault) {
      gateway.fault(fault);
      answer = { status: 500, body: { error: 'the gateway failed' } };
    }
    if (answer.allow !== undefined) response.setHeader('allow', answer.allow);
    sendJson(response, answer.status, answer.body);
  });
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
