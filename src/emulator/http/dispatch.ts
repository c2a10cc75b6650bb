import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../protocol/errors.js';
import { type JsonObject, parseJsonObject } from '../../protocol/json/json-body.js';
import { engineBodyTooLarge } from '../errors.js';
import type { EngineExchange } from './engine-exchange.js';
import { type Route, routeAt } from './routes.js';

/** Finds the route of a request and runs it; errors become error responses. */
export function dispatch(exchange: EngineExchange): void {
  const { engine, response } = exchange;
  engine.inFlight++;
  response.on('close', () => {
    engine.inFlight--;
  });
  // A disconnect is handled by 'close'; write errors need no handling.
  response.on('error', () => {});
  try {
    const route = routeOf(exchange);
    if (route.always) respond(exchange, route);
    else engine.whenThawed(() => respond(exchange, route));
  } catch (error) {
    exchange.fail(error);
  }
}

function routeOf({ request, response }: EngineExchange): Route {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const route = routeAt(path);
  if (route === undefined) throw new ApiError('unknown_path', `There is nothing at ${path}.`);
  const { method } = request;
  if ((method === 'GET' && route.get) || (method === 'POST' && route.post)) return route;
  response.setHeader('allow', route.post && route.get ? 'GET, POST' : route.post ? 'POST' : 'GET');
  throw new ApiError('wrong_method', `${method} is not for ${path}.`);
}

async function respond(exchange: EngineExchange, route: Route): Promise<void> {
  const { engine, request } = exchange;
  try {
    if (!engine.isReady && !route.always) throw new ApiError('unavailable', 'The engine is starting or closing.');
    if (request.method === 'GET') {
      route.get!(exchange);
      return;
    }
    const body = parseJsonObject(await readBody(request, engine.options.maxBodyBytes));
    // It may have been frozen while the body was received.
    if (route.always) serve(exchange, route, body);
    else engine.whenThawed(() => serve(exchange, route, body));
  } catch (error) {
    exchange.fail(error);
  }
}

function serve(exchange: EngineExchange, route: Route, body: JsonObject): void {
  if (exchange.response.destroyed) return;
  try {
    const fate = route.serves ? exchange.engine.dice.draw() : 'served';
    if (fate === 'failed') throw new ApiError('internal', 'Internal server error (a fault that was asked for).');
    if (fate !== 'hung') route.post!(exchange, body, fate === 'disconnected');
  } catch (error) {
    exchange.fail(error);
  }
}

/** The whole body of a request; fails when it is too large, or when the client leaves before its end. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > maxBytes) {
      reject(engineBodyTooLarge(maxBytes));
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) {
        request.removeAllListeners('data');
        reject(engineBodyTooLarge(maxBytes));
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)));
    request.on('error', reject);
  });
}
