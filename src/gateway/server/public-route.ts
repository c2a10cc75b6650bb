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
  /** The stored response that the path names. */
  responseId?: string;
}

/** `/workspace/{ws}/endpoint/{name}/v1/...` */
const NAMED = /^\/workspace\/([^/]+)\/endpoint\/([^/]+)(\/.*)$/;
const MODELS = '/v1/models';
const STORED = /^\/v1\/responses\/(resp_[\w-]{1,120})(?:\/(?:cancel|input_items))?$/;
const UNKNOWN = /^\/v1(?:\/[\w.~%-]+)+$/;
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

/**
 * The route of a URL of the public port; null when it is not part of the API.
 * @param passesUnknown whether paths below /v1 that are not known here are passed on as well
 */
export function publicRoute(url: string, passesUnknown = false): PublicRoute | null {
  const query = url.indexOf('?');
  // HTTP clients do not send fragments: a URL with one is ambiguous and refused.
  if (url.includes('#')) return null;
  const path = query < 0 ? url : url.slice(0, query);
  // Nearly every request has one of these.
  const known = API_PATHS.get(path);
  if (known !== undefined) return { kind: known, path: url, endpoint: null, workspace: null };
  const kind = kindOf(path, passesUnknown);
  if (kind !== null) return { ...kind, path: url, endpoint: null, workspace: null };
  const named = NAMED.exec(path);
  if (named === null) return null;
  const [, workspace, endpoint, own] = named as unknown as [string, string, string, string];
  const ownKind = kindOf(own, passesUnknown);
  if (ownKind === null) return null;
  const rest = query < 0 ? '' : url.slice(query);
  return { ...ownKind, path: own + rest, endpoint: decoded(endpoint), workspace: decoded(workspace) };
}

function kindOf(path: string, passesUnknown: boolean): Pick<PublicRoute, 'kind' | 'responseId'> | null {
  const kind = API_PATHS.get(path);
  if (kind !== undefined) return { kind };
  const responseId = STORED.exec(path)?.[1];
  if (responseId !== undefined) return { kind: 'stored-response', responseId };
  const isUnknown = passesUnknown && UNKNOWN.test(path) && path !== MODELS && !path.startsWith(`${MODELS}/`);
  // Paths that a replica could read as one with rules of its own here are not passed.
  return isUnknown && !/\/\.{1,2}(?:\/|$)|%/.test(path) && !path.startsWith('/v1/responses/')
    ? { kind: 'other' }
    : null;
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
