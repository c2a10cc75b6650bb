import type { AdminCall } from '../gateway/server/admin-api.js';
import { authorise } from './access/authorise.js';
import type { Caller } from './access/caller.js';
import type { ApiHost } from './api-host.js';
import type { ApiRequest, ApiResponse, ApiRoute } from './api-route.js';
import { errorResponse } from './error-response.js';
import { apiPathUnknown, wrongMethod } from './errors.js';
import { untilEnd } from './open-streams.js';
import { readQuery } from './query.js';
import { readRequestBody } from './request-parts.js';
import { API_ROUTES } from './routes.js';
import { keepAlive } from './streams/keep-alive.js';

export type ApiCall = Pick<AdminCall, 'method' | 'path' | 'query' | 'header' | 'body' | 'signal'>;

/** Responds to a call of an authenticated caller. Throws only what is a bug. */
export async function respond(host: ApiHost, caller: Caller, call: ApiCall): Promise<ApiResponse> {
  let endStream = () => {};
  try {
    const { params, route } = matchOf(caller, call);
    authorise(caller, route, params.workspace ?? '');
    const request: ApiRequest = {
      caller,
      params,
      query: readQuery(call.query, route.query),
      // Read only now: the body of a caller without the role is not.
      body: await readRequestBody(route, call),
      header: call.header,
      signal: call.signal,
    };
    // A route without a role is one of the client port, whose limits hold for it.
    if (route.response.type === 'stream' && route.role !== 'none') endStream = host.streams.enter(caller);
    const response = await route.handle(host, request as ApiRequest<never, never>);
    if (!('stream' in response)) {
      endStream();
      return response;
    }
    return { ...response, stream: untilEnd(keepAlive(response.stream), call.signal, endStream) };
  } catch (error) {
    endStream();
    return errorResponse(error);
  }
}

/** The route of a call. A caller without any role does not even learn which paths exist. */
function matchOf(caller: Caller, { method, path }: ApiCall): { route: ApiRoute; params: Record<string, string> } {
  const parts = path.split('/', MOST_PARTS + 1);
  const found = API_ROUTES.flatMap((route) => {
    const params = paramsIn(parts, route.path);
    return params === null ? [] : [{ route, params }];
  });
  const wanted = method === 'HEAD' ? 'GET' : method;
  const match = found.find(({ route }) => route.method === wanted);
  if (match !== undefined) return match;
  authorise(caller, { role: 'viewer', scope: 'anywhere' }, '');
  if (found.length === 0) throw apiPathUnknown(shortText(path));
  throw wrongMethod(
    method,
    path,
    found.map(({ route }) => route.method),
  );
}

/** More parts than any path has: the rest of a long path is not looked at. */
const MOST_PARTS = 20;
const shortText = (path: string) => (path.length > 200 ? `${path.slice(0, 197)}...` : path);

/** The parameters of a path, given by its parts; null when it does not match the pattern. */
export function paramsIn(parts: readonly string[], pattern: string): Record<string, string> | null {
  const wanted = pattern.split('/');
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
