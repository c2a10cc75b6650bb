import { API_PATHS, type ApiKind } from '../../protocol/endpoints.js';
import { notHttp } from '../http/request-errors.js';

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
const NAMED = /^\/workspace\/([^/]+)\/endpoint\/([^/]+)(\/.*)$/;
const MODELS = '/v1/models';
const ABSOLUTE = /^https?:\/\/([^/?]*)(.*)$/i;

/**
 * The target as a path, where a client sent a whole URL, as it does to a proxy. Throws an ApiError when that names
 * another host than the host header: what is in front of the gateway may have checked either.
 */
export function originForm(target: string, host: string | undefined): string {
  const absolute = target.startsWith('/') ? null : ABSOLUTE.exec(target);
  if (absolute === null) return target;
  const [, authority, rest] = absolute as unknown as [string, string, string];
  if (host !== undefined && authority.toLowerCase() !== host.toLowerCase()) {
    throw notHttp('has a target and a host header that name different hosts');
  }
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The route of a URL of the public port; null when it is not part of the API. */
export function publicRoute(url: string): PublicRoute | null {
  const query = url.indexOf('?');
  // HTTP clients do not send fragments: a URL with one is ambiguous and refused.
  if (url.includes('#')) return null;
  const path = query < 0 ? url : url.slice(0, query);
  const kind = API_PATHS.get(path);
  if (kind !== undefined) return { kind, path: url, endpoint: null, workspace: null };
  const named = NAMED.exec(path);
  if (named === null) return null;
  const [, workspace, endpoint, own] = named as unknown as [string, string, string, string];
  const ownKind = API_PATHS.get(own);
  if (ownKind === undefined) return null;
  const rest = query < 0 ? '' : url.slice(query);
  return { kind: ownKind, path: own + rest, endpoint: decoded(endpoint), workspace: decoded(workspace) };
}

/** The models that a path is about. */
export interface ModelsRoute {
  /** Null for those of all endpoints. */
  endpoint: string | null;
  workspace: string | null;
  /** Null for a list of them. */
  model: string | null;
}

/** The models that a path lists or describes; null for any other path. */
export function modelsRoute(path: string): ModelsRoute | null {
  const named = NAMED.exec(path);
  const own = named === null ? path : named[3]!;
  if (own !== MODELS && !own.startsWith(`${MODELS}/`)) return null;
  const model = own.length <= MODELS.length + 1 ? null : decoded(own.slice(MODELS.length + 1));
  if (model === null && own !== MODELS) return null;
  if (named === null) return { endpoint: null, workspace: null, model };
  return { endpoint: decoded(named[2]!), workspace: decoded(named[1]!), model };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
