import type { EndpointConfig } from '../config/gateway-config.js';
import { endpointTaken, replicaTaken } from '../errors.js';
import type { Endpoint } from './endpoint.js';

/** An InputError when a configuration wants the name of an endpoint that somebody keeps, or of a replica of one. */
export function refuseTaken(present: ReadonlyMap<string, Endpoint>, wanted: readonly EndpointConfig[]): void {
  const ids = new Set<string>();
  for (const { managed, replicas } of present.values()) {
    if (managed !== null) for (const { id } of replicas) ids.add(id);
  }
  for (const { name, replicas } of wanted) {
    if (present.get(name)?.managed) throw endpointTaken(name);
    for (const { id } of replicas) if (ids.has(id)) throw replicaTaken(id);
  }
}
