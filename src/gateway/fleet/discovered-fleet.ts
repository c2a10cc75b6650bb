import { MOST_REPLICAS } from '../config/most-replicas.js';
import type { Fleet } from './fleet.js';
import type { ManagedReplica } from './managed-routes.js';
import type { LiveReplica } from './replica/live-replica.js';

/** The cluster decides when a replica that left ends; requests on it go on until then. */
const AS_LONG_AS_IT_TAKES = Number.POSITIVE_INFINITY;

/** The replicas that are found in a cluster, beside those that the configuration lists. */
export class DiscoveredFleet {
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /**
   * Gives an endpoint of the configuration exactly these discovered replicas: new ones get requests after a health check, those
   * not found any more get none. Requests under way are kept, and models stay known until replicas report others. Returns how many
   * had no room.
   * @param problem why they may be out of date; null when they are not
   */
  set(name: string, found: readonly ManagedReplica[], problem: string | null): number {
    const endpoint = this.#fleet.endpoints.get(name);
    if (endpoint === undefined || endpoint.managed !== null) return 0;
    const models = new Set(endpoint.replicas.flatMap((replica) => [...replica.models]));
    endpoint.discovery = { problem, models: models.size > 0 ? models : (endpoint.discovery?.models ?? models) };
    const listed = endpoint.replicas.filter(({ isDiscovered }) => !isDiscovered);
    const taken = new Set(listed.map(({ id }) => id));
    const fitting = found.filter(({ id }) => !taken.has(id)).slice(0, MOST_REPLICAS - listed.length);
    const leaving = new Map(
      endpoint.replicas.filter(({ isDiscovered }) => isDiscovered).map((replica) => [replica.id, replica]),
    );
    const joined: LiveReplica[] = [];
    const replicas = fitting.map((config) => {
      const known = leaving.get(config.id);
      if (known?.adopt(config) === true) {
        leaving.delete(config.id);
        return known;
      }
      const replica = this.#fleet.make(config, endpoint);
      replica.isDiscovered = true;
      joined.push(replica);
      return replica;
    });
    if (joined.length > 0 || leaving.size > 0) {
      for (const replica of leaving.values()) replica.drain();
      endpoint.setReplicas([...listed, ...replicas]);
      for (const replica of leaving.values()) this.#fleet.leave(replica, AS_LONG_AS_IT_TAKES);
      for (const replica of joined) void this.#fleet.look(replica);
    }
    return found.length - fitting.length;
  }

  /** The endpoint is not followed any more. */
  clear(name: string): void {
    this.set(name, [], null);
    const endpoint = this.#fleet.endpoints.get(name);
    if (endpoint !== undefined) endpoint.discovery = null;
  }
}
