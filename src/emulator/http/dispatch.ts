import { ApiError } from '../../protocol/errors.js';
import { type JsonObject, parseJsonObject } from '../../protocol/json-body.js';
import type { Exchange } from './exchange.js';
import { readBody } from './read-body.js';
import { ROUTES, type Route } from './routes.js';

/** Finds what answers a request and lets it, whatever may go wrong. */
export function dispatch(exchange: Exchange): void {
  const { engine, response } = exchange;
  engine.inFlight++;
  response.on('close', () => {
    engine.inFlight--;
  });
  // A client that leaves is heard of by 'close'; what could not be written to it is of no interest.
  response.on('error', () => {});
  try {
    const route = routeOf(exchange);
    if (route.always) answer(exchange, route);
    else engine.whenThawed(() => answer(exchange, route));
  } catch (error) {
    exchange.fail(error);
  }
}

function routeOf({ request, response }: Exchange): Route {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const route = ROUTES.get(path);
  if (route === undefined) throw new ApiError('unknown_path', `There is nothing at ${path}.`);
  const { method } = request;
  if ((method === 'GET' && route.get) || (method === 'POST' && route.post)) return route;
  response.setHeader('allow', route.post && route.get ? 'GET, POST' : route.post ? 'POST' : 'GET');
  throw new ApiError('wrong_method', `${method} is not for ${path}.`);
}

async function answer(exchange: Exchange, route: Route): Promise<void> {
  const { engine, request } = exchange;
  try {
    if (!engine.isReady && !route.always) throw new ApiError('unavailable', 'The engine is starting or closing.');
    if (request.method === 'GET') {
      route.get!(exchange);
      return;
    }
    const body = parseJsonObject(await readBody(request, engine.options.maxBodyBytes));
    // It may have been frozen while the body came in.
    if (route.always) serve(exchange, route, body);
    else engine.whenThawed(() => serve(exchange, route, body));
  } catch (error) {
    exchange.fail(error);
  }
}

function serve(exchange: Exchange, route: Route, body: JsonObject): void {
  if (exchange.response.destroyed) return;
  try {
    const fate = route.serves ? exchange.engine.dice.draw() : 'served';
    if (fate === 'failed') throw new ApiError('internal', 'Internal server error (a fault that was asked for).');
    if (fate !== 'hung') route.post!(exchange, body, fate === 'disconnected');
  } catch (error) {
    exchange.fail(error);
  }
}
