import { ApiError } from '../../protocol/errors.js';
import type { JsonObject } from '../../protocol/json/json-body.js';
import type { AccessKey } from '../access/keys/access-key.js';
import { EVERYTHING, type Reach } from '../access/reach.js';
import { modelUnknown } from '../errors.js';
import type { EndpointDirectory } from '../fleet/endpoint-directory.js';
import type { LiveReplica } from '../fleet/replica/live-replica.js';
import type { HttpRequest } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import type { RequestServices } from '../proxy/exchange-host.js';
import { type ModelsRoute, modelsRoute } from './public-route.js';

/** What responses without a replica need of the gateway. */
export interface PlainHost {
  readonly services: RequestServices;
  /** Whether at least one replica can take a request, and the gateway is not shutting down. */
  readonly isReady: boolean;
  readonly directory: EndpointDirectory;
}

/** The key of a request, null where none is required, or why it is refused. */
export function keyOf({ services }: Pick<PlainHost, 'services'>, request: HttpRequest): AccessKey | ApiError | null {
  const { access } = services;
  if (access === null) return null;
  const [authorization, apiKey] = [request.header('authorization'), request.header('x-api-key')];
  if (access.isOptional && !access.isMeant(authorization, apiKey)) return null;
  return access.check(authorization, apiKey, request.address);
}

/** Where the requests of a key may go; everywhere where none is required. */
export function reachOf(key: AccessKey | null): Reach {
  return key === null ? EVERYTHING : key.reach;
}

type PlainResponse = (request: HttpRequest) => [status: number, body: object];

/** The handler of a path that needs no replica, or null; it throws an ApiError for what it refuses. */
export function plainResponse(host: PlainHost, path: string): PlainResponse | null {
  if (path === '/health') return () => [200, { status: 'alive' }];
  if (path === '/ready') return () => (host.isReady ? [200, { status: 'ready' }] : [503, { status: 'not ready' }]);
  const route = modelsRoute(path);
  return route === null ? null : (request) => [200, models(host, request, route)];
}

/** Without a permitted key a client learns neither the models nor whether an endpoint exists. */
function models(host: PlainHost, request: HttpRequest, { endpoint, model, workspace }: ModelsRoute): object {
  const key = keyOf(host, request);
  if (key instanceof ApiError) throw key;
  const reached = host.directory.reachedModels(endpoint, workspace, reachOf(key));
  const all = [...reached.keys()];
  const visible = key === null ? all : key.visible(all);
  if (model === null) return { object: 'list', data: visible.map((id) => modelCard(id, reached.get(id)!)) };
  if (!visible.includes(model)) throw modelUnknown(model);
  return modelCard(model, reached.get(model)!);
}

export function sendJson(response: HttpResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, ['content-type', 'application/json', 'content-length', String(bytes.length)]);
  response.end(bytes);
}

type Described = Pick<LiveReplica, 'cards' | 'models'>;

/**
 * A model as `GET /v1/models` describes it: every field of the first replica that reports it. Replicas may differ in
 * `max_model_len`; a prompt must fit wherever it is sent, so the least one counts.
 */
function modelCard(model: string, replicas: readonly Described[]): JsonObject {
  const card: JsonObject = { id: model, object: 'model', created: 0, owned_by: 'twinyard' };
  let isReported = false;
  let least = Number.POSITIVE_INFINITY;
  for (const { cards, models } of replicas) {
    const reported = models.has(model) ? cards?.get(model) : undefined;
    if (reported === undefined) continue;
    if (!isReported) Object.assign(card, reported);
    isReported = true;
    if (typeof reported.max_model_len === 'number') least = Math.min(least, reported.max_model_len);
  }
  if (least < Number.POSITIVE_INFINITY) card.max_model_len = least;
  return card;
}
