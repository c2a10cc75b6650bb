import { KINDS } from '../resources/kinds.js';
import { authorise } from './authorise.js';
import type { Caller } from './caller.js';
import {
  type ControlHost,
  type ControlRequest,
  type ControlResponse,
  type ControlRoute,
  failed,
  ok,
} from './control-route.js';
import { ENDPOINT_ROUTES } from './endpoint-routes.js';
import { refusalFor } from './errors.js';
import { GENERAL_ROUTES } from './general-routes.js';
import { keptAlive } from './kept-alive.js';
import { openApi } from './open-api.js';
import { REGISTRY_ROUTES } from './registry-routes.js';
import { resourceRoutes } from './resource-routes.js';

const DESCRIPTION: ControlRoute = {
  method: 'GET',
  path: '/api/v1/openapi.json',
  role: 'viewer',
  scope: 'anywhere',
  summary: 'Describes this API by OpenAPI 3.1',
  gives: 'object',
  handle: async () => ok(await openApi(CONTROL_ROUTES)),
};

/** The whole control API: what can be asked, and the least that whoever asks must be. */
export const CONTROL_ROUTES: readonly ControlRoute[] = [
  DESCRIPTION,
  ...GENERAL_ROUTES,
  ...KINDS.flatMap(resourceRoutes),
  ...ENDPOINT_ROUTES,
  ...REGISTRY_ROUTES,
];

export interface ControlCall extends Pick<ControlRequest, 'query' | 'ifMatch' | 'signal'> {
  readonly method: string;
  /** Without the query, still encoded. */
  readonly path: string;
  /** Read when it is clear that whoever sends it may. */
  body(): Promise<string>;
}

/** Whether a path is the control API's own. */
export const isControlPath = (path: string) => path.startsWith('/api/v1/');

/** What somebody gets. Throws only what is a bug, and what `body` throws. */
export async function respondControl(host: ControlHost, caller: Caller, call: ControlCall): Promise<ControlResponse> {
  const found = CONTROL_ROUTES.flatMap((route) => {
    const params = paramsIn(call.path, route.path);
    return params === null ? [] : [{ route, params }];
  });
  const method = call.method === 'HEAD' ? 'GET' : call.method;
  const match = found.find(({ route }) => route.method === method);
  try {
    if (match === undefined) {
      authorise(caller, { role: 'viewer', scope: 'anywhere' }, '');
      if (found.length === 0) return failed(404, 'API_PATH_UNKNOWN', `there is no ${call.path} here`);
      const allow = found.map(({ route }) => route.method).join(', ');
      return failed(405, 'API_METHOD', `${call.path} does not take ${call.method}: use ${allow}`, {}, ['allow', allow]);
    }
    const { params, route } = match;
    authorise(caller, route, params.workspace ?? '');
  } catch (error) {
    return refusalFor(error);
  }
  const { ifMatch, query, signal } = call;
  const body = match.route.takes === undefined ? '' : await call.body();
  const request = { caller, params: match.params, query, body, signal };
  try {
    const response = await match.route.handle(host, ifMatch === undefined ? request : { ...request, ifMatch });
    return 'stream' in response ? { ...response, stream: keptAlive(response.stream) } : response;
  } catch (error) {
    return refusalFor(error);
  }
}

/** What a path names; null when it is not the pattern's. */
export function paramsIn(path: string, pattern: string): Record<string, string> | null {
  const [parts, wanted] = [path.split('/'), pattern.split('/')];
  if (parts.length !== wanted.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const given = parts[i]!;
    if (!part.startsWith('{')) {
      if (part !== given) return null;
      continue;
    }
    try {
      params[part.slice(1, -1)] = decodeURIComponent(given);
    } catch {
      return null;
    }
    if (given === '') return null;
  }
  return params;
}
