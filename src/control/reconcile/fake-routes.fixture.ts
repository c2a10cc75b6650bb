import type { ManagedEndpoint, ManagedRoutes, ReplicaState } from '../../gateway/fleet/managed-routes.js';

/** A gateway that only remembers its routes; the test decides when requests end. */
export class FakeRoutes implements ManagedRoutes {
  readonly endpoints = new Map<string, ManagedEndpoint>();
  /** Thrown by every put. */
  putFails: Error | null = null;
  /** Replicas with requests. */
  readonly busy = new Set<string>();
  /** The state of upstreams that are not ready. */
  readonly health = new Map<string, Partial<ReplicaState>>();
  readonly #waiting = new Map<string, (isDrained: boolean) => void>();

  put(endpoint: ManagedEndpoint): void {
    if (this.putFails !== null) throw this.putFails;
    this.endpoints.set(`${endpoint.workspace}/${endpoint.name}`, endpoint);
  }

  remove(workspace: string, name: string): void {
    this.endpoints.delete(`${workspace}/${name}`);
  }

  drained(_workspace: string, _name: string, replicaId: string, _withinMs: number): Promise<boolean> {
    if (!this.busy.has(replicaId)) return Promise.resolve(true);
    return new Promise((resolve) => this.#waiting.set(replicaId, resolve));
  }

  states(workspace: string, name: string): ReplicaState[] {
    return this.routed(workspace, name).map((id) => ({
      ...{ id, state: 'ready', problem: '', inFlight: this.busy.has(id) ? 1 : 0 },
      ...this.health.get(id),
    }));
  }

  /** The ids of routed replicas. */
  routed(workspace = 'default', name = 'chat'): string[] {
    return this.endpoints.get(`${workspace}/${name}`)?.replicas.map(({ id }) => id) ?? [];
  }

  /** Ends the requests of a replica. */
  end(id: string): void {
    this.busy.delete(id);
    this.#waiting.get(id)?.(true);
  }
}
