import { endpointNotSettled, endpointUnknown, modelUnknown, noReplica } from '../errors.js';
import type { Endpoint } from './endpoint.js';

/** What metrics, logs and explanations call an endpoint that somebody keeps. */
export function managedName(workspace: string, name: string): string {
  return `${workspace}/${name}`;
}

/**
 * The first endpoint that has a ready replica for a model or, where none has, the first that serves it; an ApiError when there
 * is none.
 * @param isSettling there may be endpoints that nobody has told of yet
 */
export function endpointOfModel(
  endpoints: ReadonlyMap<string, Endpoint>,
  model: string,
  isSettling: boolean,
): Endpoint {
  let first: Endpoint | null = null;
  for (const endpoint of endpoints.values()) {
    if (endpoint.isReadyFor(model)) return endpoint;
    if ((first === null || first.managed?.isIdle === true) && endpoint.serves(model)) first = endpoint;
  }
  if (first !== null) return worthAsking(first, model);
  throw isSettling ? notSettled(model) : missing(model, [...endpoints.values()]);
}

/** The endpoint of a name, the workspace's own, else that of the configuration; an ApiError when there is none. */
export function endpointCalled(
  endpoints: ReadonlyMap<string, Endpoint>,
  name: string,
  workspace: string,
  isSettling: boolean,
): Endpoint {
  const own = endpoints.get(managedName(workspace, name));
  const endpoint = own?.managed ? own : endpoints.get(name);
  if (endpoint !== undefined) return endpoint;
  throw isSettling ? endpointNotSettled(name) : endpointUnknown(name);
}

/** The same for a request; an ApiError also when it does not serve the model. */
export function endpointNamed(
  endpoints: ReadonlyMap<string, Endpoint>,
  model: string,
  name: string,
  workspace: string,
  isSettling: boolean,
): Endpoint {
  const endpoint = endpointCalled(endpoints, name, workspace, isSettling);
  const { managed, replicas } = endpoint;
  const isUnknown = managed !== null && managed.models === undefined && replicas.length === 0;
  if (endpoint.serves(model) || isUnknown) return worthAsking(endpoint, model);
  throw missing(model, [endpoint]);
}

/** The endpoint, unless nobody will be there soon: then an ApiError tells so at once. */
function worthAsking(endpoint: Endpoint, model: string): Endpoint {
  const { managed, replicas } = endpoint;
  if (managed?.isIdle !== true || replicas.length > 0) return endpoint;
  throw noReplica(model, managed.waitsFor ?? 'there are none');
}

/** As long as somebody has not said what it serves, the model may still come: that is worth another try. */
function missing(model: string, endpoints: readonly Endpoint[]): Error {
  const isStarting = endpoints.some(({ replicas }) => replicas.some(({ models }) => models.size === 0));
  return isStarting ? noReplica(model, 'some have not started yet') : modelUnknown(model);
}

const notSettled = (model: string) => noReplica(model, 'endpoints are still being looked up');
