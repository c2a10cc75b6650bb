import { ApiError } from '../../protocol/errors.js';
import { PROMETHEUS_TYPE } from '../../protocol/prometheus/exposition.js';
import { LastKnown } from '../../store/last-known.js';
import type { Store } from '../../store/open-store.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import { nameSeveralWorkspaces } from '../fleet/seen-metrics.js';
import { type HttpRequest, readBody } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import { type AdminApi, type AdminResponse, adminError } from './admin-api.js';
import type { Door } from './door.js';
import type { RequestHandler } from './listener.js';
import { sendAdminResponse } from './send-admin-response.js';

/** What the admin port needs of the gateway. */
export interface AdminHost {
  /** Null while no API is installed: its paths then return 404. */
  readonly api: AdminApi | null;
  readonly config: { readonly access: Pick<GatewayConfig['access'], 'metrics'> };
  /** Aborted when the gateway stops. */
  readonly stopSignal: AbortSignal;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly store: { readonly resources: Pick<Store['resources'], 'count'> } | null;
  readonly metrics: Pick<GatewayMetrics, 'endpointNames'>;
  metricsText(workspaces?: readonly string[]): string;
  fault(error: unknown): void;
  /** Called with a line that operators should see. */
  readonly onWarning: (line: string) => void;
}

/** How many workspaces gateways have, and those that have warned about metrics that began to need a token. */
const counts = new WeakMap<AdminHost, LastKnown<number>>();
const warned = new WeakSet<AdminHost>();
const METRICS_NEED_TOKEN =
  "metrics need a token since there are several workspaces: give Prometheus an API key with the role viewer, or set 'access: { metrics: open }'";

/**
 * Serves the admin port: health, and metrics unless they need a token, without authentication; everything else by the
 * API.
 */
export function adminHandler(host: AdminHost, door: Door): RequestHandler {
  return (request, response) => {
    door.identify(request);
    const refusal = needsNoToken(request) ? door.refusal(request) : null;
    if (refusal !== null) {
      void sendAdminResponse(response, adminError(refusal.status, 'API_FORBIDDEN', refusal.message));
      return;
    }
    if (door.crossOrigin(request, response)) return;
    handle(host, request, response).catch((fault) => {
      host.fault(fault);
      if (!response.headersSent) void sendAdminResponse(response, INTERNAL);
    });
  };
}

/** Whether a request needs no token that only a program can send: pages are open, and a browser sends its cookie by itself. */
function needsNoToken(request: HttpRequest): boolean {
  if (!request.url.startsWith('/api/')) return true;
  return request.header('authorization') === undefined && request.header('x-api-key') === undefined;
}

const INTERNAL = adminError(500, 'API_INTERNAL', 'internal error', "see the gateway's log");

async function handle(host: AdminHost, request: HttpRequest, response: HttpResponse): Promise<void> {
  const { stopSignal } = host;
  const leaving = new AbortController();
  const leave = () => {
    leaving.abort();
    // A call that waits for the rest of a body never reaches the end of this function.
    stopSignal.removeEventListener('abort', leave);
  };
  response.onClose = leave;
  stopSignal.addEventListener('abort', leave, { once: true });
  try {
    const answer = await responseTo(host, request, leaving.signal);
    if ('stream' in answer && (stopSignal.aborted || request.method === 'HEAD')) leave();
    await sendAdminResponse(response, answer, leaving.signal);
  } finally {
    response.onClose = null;
    stopSignal.removeEventListener('abort', leave);
  }
}

async function responseTo(host: AdminHost, request: HttpRequest, signal: AbortSignal): Promise<AdminResponse> {
  const { address, method, url } = request;
  const path = url.split('?', 1)[0]!;
  if (path === '/health') return { status: 200, body: { status: 'alive' } };
  if (path === '/metrics') return metricsFor(host, request);
  if (host.api === null) return adminError(404, 'API_PATH_UNKNOWN', `no such path: ${path}`);
  try {
    return await host.api.handle({
      ...{ method, path, address, signal },
      query: new URLSearchParams(url.slice(path.length)),
      header: (name) => request.header(name),
      body: (limit) => bodyOf(request, limit),
    });
  } catch (error) {
    if (error instanceof ApiError) return adminError(error.status, `API_${error.kind.toUpperCase()}`, error.message);
    throw error;
  }
}

async function metricsFor(host: AdminHost, request: HttpRequest): Promise<AdminResponse> {
  const respond = (workspaces?: readonly string[]) => ({
    ...{ status: 200, body: host.metricsText(workspaces), type: PROMETHEUS_TYPE },
  });
  if (await areOpen(host)) return respond();
  if (host.api === null) return adminError(503, 'API_UNAVAILABLE', 'the API that checks tokens is not installed');
  const seen = await host.api.metricsFor({ address: request.address, header: (name) => request.header(name) });
  if (seen.refusal === null) return respond(seen.workspaces);
  if (host.config.access.metrics === 'auto' && !warned.has(host)) {
    warned.add(host);
    host.onWarning(METRICS_NEED_TOKEN);
  }
  return seen.refusal;
}

/** Metrics need no token, unless that is set, or unless they would show each workspace what others do. */
async function areOpen(host: AdminHost): Promise<boolean> {
  const setting = host.config.access.metrics;
  if (setting !== 'auto') return setting === 'open';
  if (nameSeveralWorkspaces(host.endpoints, host.metrics.endpointNames)) return false;
  const { store } = host;
  if (store === null) return true;
  let workspaces = counts.get(host);
  if (workspaces === undefined) {
    // Those that are gone count: metrics keep what was counted for them.
    let most = 0;
    workspaces = new LastKnown(async () => (most = Math.max(most, await store.resources.count(['Workspace']))));
    counts.set(host, workspaces);
  }
  // While the store is away, what it last said counts; before it has said anything, metrics need a token.
  const known = await workspaces.get().catch(() => null);
  return known !== null && known.value <= 1;
}

/** Never settles when the client has disconnected. */
function bodyOf(request: HttpRequest, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    readBody(request, limit, (error, body) => {
      if (error === null) resolve(body.toString('utf8'));
      else reject(error);
    });
  });
}
