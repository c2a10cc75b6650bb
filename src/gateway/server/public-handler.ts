import { MOST_READ_AS_TEXT } from '../../protocol/body/scanned-body.js';
import { API_KINDS, errorShape } from '../../protocol/endpoints.js';
import { ApiError, type ErrorShape } from '../../protocol/errors.js';
import { withUsageRequested } from '../../protocol/with-usage-requested.js';
import type { AccessKey } from '../access/keys/access-key.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { draining, EndpointsNotSettled, internalError, methodWrong, pathUnknown } from '../errors.js';
import type { EndpointDirectory } from '../fleet/endpoint-directory.js';
import { type HttpRequest, readBody } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import { Exchange } from '../proxy/exchange.js';
import type { ExchangeHost, RequestServices } from '../proxy/exchange-host.js';
import { sendError } from '../proxy/send-error.js';
import { ArrivingBody, type ReceivedBody } from '../request/arriving-body.js';
import type { BodyBudget } from '../request/body-budget.js';
import { measureInSlices, SLICED_BYTES } from '../request/prompt-blocks.js';
import { type RequestFacts, readFacts, requestIdOf } from '../request/request-facts.js';
import { taskRefusal } from '../request/task-kinds.js';
import type { Tracing } from '../telemetry/tracing/tracing.js';
import type { Door } from './door.js';
import type { RequestHandler } from './listener.js';
import { keyOf, plainResponse, reachOf, sendJson } from './plain-response.js';
import { originForm, type PublicRoute, publicRoute } from './public-route.js';
import { continuedAt, storedResponse } from './stored-response.js';

/** What the public port needs of the gateway. */
export interface PublicHost extends ExchangeHost {
  readonly config: Pick<GatewayConfig, 'http' | 'limits' | 'retries'>;
  readonly services: RequestServices & {
    /** Null where requests are not traced. */
    readonly tracing: Tracing | null;
  };
  /** Whether at least one replica can take a request, and the gateway is not shutting down. */
  readonly isReady: boolean;
  readonly directory: EndpointDirectory;
  /** The bodies of requests under way. */
  readonly bodies: BodyBudget;
  /** @param keyId empty without a valid key */
  refused(id: string, error: ApiError, keyId: string, client: string): void;
}

/** A request that has not become an exchange. */
interface Arrival {
  readonly host: PublicHost;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The shape in which its client expects errors: of its route, once that is known. */
  shape: ErrorShape;
  /** Null where none is required, and before it is checked. */
  readonly key: AccessKey | null;
}

/** A request for a replica. */
interface RoutedArrival extends Arrival {
  readonly route: PublicRoute;
  readonly body: ArrivingBody;
  /** Frees its part of the budget of bodies. */
  readonly release: () => void;
}

/** Handles the public port: the routed API, the list of models, liveness and readiness. */
export function publicHandler(host: PublicHost, door: Door): RequestHandler {
  return (request, response) => {
    const { access } = host.services;
    const arrival: Arrival = { host, request, response, shape: 'openai', key: null };
    const verified = access?.takesTokens
      ? access.resolve(request.header('authorization'), request.header('x-api-key'))
      : null;
    if (verified === null) arrive(arrival, door);
    else arriveVerified(arrival, door, verified);
  };
}

function arrive(arrival: Arrival, door: Door): void {
  const { host, request, response } = arrival;
  try {
    door.identify(request);
    const refusal = (host.services.access?.isOptional ?? true) ? door.refusal(request) : null;
    if (refusal !== null) throw refusal;
    if (door.crossOrigin(request, response)) return;
    const url = originForm(request.url, request.header('host'));
    const route = publicRoute(url, host.config.http.unknownPaths === 'pass');
    if (route === null) respondPlain(arrival, url.split('?', 1)[0]!, true);
    else {
      arrival.shape = errorShape(route.kind);
      routed(arrival, route);
    }
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    refuse(arrival, problem);
  }
}

/** The first request with a token waits until that is verified: nothing of its body is read meanwhile. */
function arriveVerified(arrival: Arrival, door: Door, verified: Promise<void>): void {
  let hasLeft = false;
  arrival.response.onClose = () => {
    hasLeft = true;
  };
  verified
    .then(() => {
      if (hasLeft) return;
      arrival.response.onClose = null;
      arrive(arrival, door);
    })
    .catch((fault) => {
      arrival.host.fault(fault);
      if (!hasLeft) refuse(arrival, internalError());
    });
}

const noop = () => {};
const POST: readonly string[] = ['POST'];

function routed(arrival: Arrival, route: PublicRoute): void {
  const { host, request, response } = arrival;
  const methods = API_KINDS[route.kind].methods ?? POST;
  if (!methods.includes(request.method)) {
    refuseMethod(arrival, request.url, methods.join(', '));
    return;
  }
  if (host.isDraining) {
    refuse(arrival, draining());
    return;
  }
  const key = keyOf(host, request);
  if (key instanceof ApiError) {
    refuse(arrival, key);
    return;
  }
  const { limits } = host.config;
  const hold = host.bodies.hold(key === null ? '' : key.id, limits);
  const { release } = hold;
  const body = new ArrivingBody(route.kind, request.header('content-type'), hold);
  const accepted: RoutedArrival = { host, request, response, shape: arrival.shape, route, key, body, release };
  // A body that came with its head needs no early check: nothing more of it is to be received.
  if (key === null || request.isComplete) receive(accepted);
  else checkEarly(accepted, key);
}

/** Receives the body unless the key is at a limit: nothing is read meanwhile. */
function checkEarly(arrival: RoutedArrival, key: AccessKey): void {
  let hasLeft = false;
  arrival.response.onClose = () => {
    hasLeft = true;
  };
  arrival.host.services.access!.checkEarly(key, (refusal) => {
    if (hasLeft) return;
    arrival.response.onClose = null;
    if (refusal === null) receive(arrival);
    else refuse(arrival, refusal);
  });
}

function receive(arrival: RoutedArrival): void {
  const { body, host, key, release, request, response } = arrival;
  const { bodyBytes } = host.config.limits;
  response.onClose = release;
  readBody(
    request,
    key === null ? bodyBytes : Math.min(bodyBytes, key.bodyBytes),
    (error, bytes) => {
      guarded(arrival, () => {
        if (error !== null) throw error;
        beginSettled(arrival, body.end(bytes));
      });
    },
    body.watch,
  );
}

/** Refuses the request when it is invalid, or because of a bug. */
function guarded(arrival: RoutedArrival, step: () => void): void {
  try {
    step();
  } catch (problem) {
    arrival.release();
    if (!(problem instanceof ApiError)) arrival.host.fault(problem);
    refuse(arrival, problem instanceof ApiError ? problem : internalError());
  }
}

/** A request for an endpoint that is not known yet waits for the control plane to declare it. */
function beginSettled(arrival: RoutedArrival, received: ReceivedBody): void {
  try {
    begin(arrival, received);
  } catch (problem) {
    if (!(problem instanceof EndpointsNotSettled)) throw problem;
    hold(arrival, arrival.release, () => {
      arrival.response.onClose = arrival.release;
      guarded(arrival, () => {
        if (arrival.host.isDraining) throw draining();
        begin(arrival, received);
      });
    });
  }
}

/** @param left called when the client leaves before */
function hold({ host, response }: Arrival, left: () => void, go: () => void): void {
  const cancel = host.directory.settling.hold(go);
  response.onClose = () => {
    cancel();
    left();
  };
}

function begin(arrival: RoutedArrival, received: ReceivedBody): void {
  const { host, key, request, response, route } = arrival;
  const stored = route.responseId === undefined ? null : storedResponse(host, route.responseId, key);
  const onlyModel = stored?.model ?? (API_KINDS[route.kind].modelIsOptional ? onlyModelFor(host, route, key) : '');
  const facts = readFacts(requestIdOf(request), route.kind, request, received, onlyModel);
  facts.method = request.method;
  const refusal =
    key === null ? null : (key.modelRefusal(facts.model) ?? key.bodyRefusal(facts.model, received.bytes.length));
  if (refusal !== null) throw refusal;
  if (facts.body.bytes.length <= SLICED_BYTES) {
    start(arrival, facts, received.bytes);
    return;
  }
  const { blockSize } = host.directory.find(facts.model, route.endpoint, route.workspace, reachOf(key));
  let hasLeft = false;
  response.onClose = () => {
    hasLeft = true;
    arrival.release();
  };
  measureInSlices(facts, blockSize, (problem) => {
    if (hasLeft) return;
    response.onClose = null;
    guarded(arrival, () => {
      if (problem !== null) throw problem;
      start(arrival, facts, received.bytes);
    });
  });
}

function start(arrival: RoutedArrival, facts: RequestFacts, sent: Buffer): void {
  const { host, key, release, request, response, route } = arrival;
  const stored = route.responseId === undefined ? null : storedResponse(host, route.responseId, key);
  const endpoint = stored?.endpoint ?? host.directory.find(facts.model, route.endpoint, route.workspace, reachOf(key));
  const task = endpoint.managed?.task;
  const refusal = task === undefined ? null : taskRefusal(task, route.kind, facts.model);
  if (refusal !== null) throw refusal;
  facts.pinnedTo = stored?.replicaId ?? continuedAt(host, facts, endpoint, key);
  if (key !== null) {
    facts.keyId = key.id;
    facts.tenant = key.tenant;
    facts.sloClass = key.allowedClass(facts.sloClass, endpoint.flow.priorities);
  }
  const asking = facts.hidesUsage ? withUsageRequested(facts.body) : null;
  const body = asking?.bytes ?? sent;
  // One copy of a long body. Policies read the text of a short one, as it was sent.
  if (asking !== null && body.length > MOST_READ_AS_TEXT) facts.body = asking;
  const { tracing } = host.services;
  const trace = tracing === null ? null : tracing.begin(request.header('traceparent'), request.header('tracestate'));
  const parts = { request, response, path: route.path, body, strips: asking !== null, key, trace, release };
  new Exchange(host, endpoint, facts, parts).start();
}

/** The model of a request that names none: the only one of its endpoint that its key may use; else empty. */
function onlyModelFor({ directory }: PublicHost, { endpoint, workspace }: PublicRoute, key: AccessKey | null): string {
  const all = [...directory.reachedModels(endpoint, workspace, reachOf(key)).keys()];
  const visible = key === null ? all : key.visible(all);
  return visible.length === 1 ? visible[0]! : '';
}

/**
 * A response without a replica.
 * @param more headers, flat
 */
function refuse({ host, key, request, response, shape }: Arrival, error: ApiError, more: readonly string[] = []): void {
  const id = requestIdOf(request);
  host.refused(id, error, key === null ? '' : key.id, request.address);
  if (host.isDraining) response.shouldKeepAlive = false;
  sendError(response, error, id, shape, more);
}

function refuseMethod(arrival: Arrival, path: string, allowed: string): void {
  refuse(arrival, methodWrong(arrival.request.method, path, allowed), ['allow', allowed]);
}

/** @param mayWait until all endpoints are known */
function respondPlain(arrival: Arrival, path: string, mayWait: boolean): void {
  const { host, request, response } = arrival;
  const page = plainResponse(host, path);
  if (page === null) refuse(arrival, pathUnknown(request.method, path));
  else if (request.method !== 'GET' && request.method !== 'HEAD') refuseMethod(arrival, path, 'GET, HEAD');
  else {
    try {
      sendJson(response, ...page(request));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (!mayWait || !(problem instanceof EndpointsNotSettled)) refuse(arrival, problem);
      else
        hold(arrival, noop, () => (host.isDraining ? refuse(arrival, draining()) : respondPlain(arrival, path, false)));
    }
  }
}
