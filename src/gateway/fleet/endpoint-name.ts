import type { Endpoint } from './endpoint/endpoint.js';
import { endpointWorkspace, FILE_WORKSPACE } from './endpoint-directory.js';

export interface EndpointName {
  readonly workspace: string;
  readonly name: string;
}

/** Endpoints of the configuration file belong to the workspace `default`. */
export function endpointName(endpoint: Pick<Endpoint, 'managed' | 'name'>): EndpointName {
  return { workspace: endpointWorkspace(endpoint), name: endpoint.managed?.name ?? endpoint.name };
}

/** The endpoint of a name in logs and decisions; the endpoint itself may be gone by now. */
export function namedEndpoint(endpoints: ReadonlyMap<string, Endpoint>, full: string): EndpointName {
  const present = endpoints.get(full);
  if (present !== undefined) return endpointName(present);
  const slash = full.indexOf('/');
  return slash < 0
    ? { workspace: FILE_WORKSPACE, name: full }
    : { workspace: full.slice(0, slash), name: full.slice(slash + 1) };
}
