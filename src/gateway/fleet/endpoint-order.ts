import type { Endpoint } from './endpoint.js';

/** Endpoints of the configuration as they stand there, then those that somebody keeps, by workspace and name. */
export function endpointOrder(endpoints: Iterable<Endpoint>): Endpoint[] {
  const configured: Endpoint[] = [];
  const kept: Endpoint[] = [];
  for (const endpoint of endpoints) (endpoint.managed === null ? configured : kept).push(endpoint);
  kept.sort((a, b) => compare(a.managed!.workspace, b.managed!.workspace) || compare(a.managed!.name, b.managed!.name));
  return [...configured, ...kept];
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
