import { API_PATHS, type ApiKind } from '../../protocol/endpoints.js';

/** The route of a request. */
export interface PublicRoute {
  kind: ApiKind;
  /** The path sent to a replica, including the query. */
  path: string;
  /** The endpoint that the path names, and its workspace; null when the model decides. */
  endpoint: string | null;
  workspace: string | null;
}

/** `/workspace/{ws}/endpoint/{name}/v1/...` */
const NAMED = /^\/workspace\/([^/]+)\/endpoint\/([^/]+)(\/v1\/.*)$/;

/** The route of a URL of the public port; null when it is not part of the API. */
export function publicRoute(url: string): PublicRoute | null {
  const query = url.indexOf('?');
  // HTTP clients do not send fragments: a URL with one is ambiguous and refused.
  if (url.includes('#')) return null;
  const path = query < 0 ? url : url.slice(0, query);
  if (Object.hasOwn(API_PATHS, path)) return { kind: API_PATHS[path]!, path: url, endpoint: null, workspace: null };
  const named = NAMED.exec(path);
  if (named === null || !Object.hasOwn(API_PATHS, named[3]!)) return null;
  const [, workspace, endpoint, own] = named as unknown as [string, string, string, string];
  const rest = query < 0 ? '' : url.slice(query);
  return { kind: API_PATHS[own]!, path: own + rest, endpoint: decoded(endpoint), workspace: decoded(workspace) };
}

/** The endpoint and workspace whose models a path lists; null for any other path. */
export function modelsRoute(path: string): { endpoint: string; workspace: string } | null {
  const named = NAMED.exec(path);
  if (named === null || named[3] !== '/v1/models') return null;
  return { endpoint: decoded(named[2]!), workspace: decoded(named[1]!) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
