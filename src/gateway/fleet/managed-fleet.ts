import { measuredEngine } from '../../engines/registry.js';
import { MOST_REPLICAS } from '../config/most-replicas.js';
import { endpointTaken, replicaTaken, tooManyReplicas } from '../errors.js';
import type { Endpoint } from './endpoint/endpoint.js';
import { FILE_WORKSPACE, managedName } from './endpoint-directory.js';
import type { Fleet } from './fleet.js';
import type { ManagedEndpoint, ManagedReplica, ManagedRoutes, ReplicaState } from './managed-routes.js';
import type { LiveReplica } from './replica/live-replica.js';

/** The control plane decides how long the replicas of a managed endpoint may drain. */
const AS_LONG_AS_IT_TAKES = Number.POSITIVE_INFINITY;

/** The managed endpoints of a fleet. */
export class ManagedFleet implements ManagedRoutes {
  readonly #fleet: Fleet;
  readonly #nowMs: () => number;

  constructor(fleet: Fleet, nowMs: () => number) {
    this.#fleet = fleet;
    this.#nowMs = nowMs;
  }

  put(given: ManagedEndpoint): void {
    this.#refuse(given);
    const { policy, replicas, ...facts } = given;
    const endpoint = this.#endpoint(facts.workspace, facts.name) ?? this.#fleet.open(facts, policy);
    endpoint.setPolicy(policy);
    endpoint.managed = facts;
    this.#setReplicas(endpoint, replicas);
  }

  remove(workspace: string, name: string): void {
    const endpoint = this.#endpoint(workspace, name);
    if (endpoint !== undefined) this.#fleet.retire(endpoint, AS_LONG_AS_IT_TAKES);
  }

  drained(workspace: string, name: string, replicaId: string, withinMs: number): Promise<boolean> {
    const replicas = this.#known(workspace, name).filter(({ id }) => id === replicaId);
    const isIdle = () => replicas.every(({ active }) => active === 0);
    if (isIdle()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (isDrained: boolean) => {
        clearTimeout(timer);
        for (const { idleListeners } of replicas) idleListeners.delete(becameIdle);
        resolve(isDrained);
      };
      const becameIdle = () => {
        if (isIdle()) settle(true);
      };
      const timer = setTimeout(() => {
        settle(false);
        for (const replica of replicas) if (replica.state === 'draining') this.#fleet.cut(replica);
      }, withinMs).unref();
      for (const { idleListeners } of replicas) idleListeners.add(becameIdle);
    });
  }

  states(workspace: string, name: string): ReplicaState[] {
    const nowMs = this.#nowMs();
    return this.#known(workspace, name).map((replica) => ({
      id: replica.id,
      state: replica.state,
      problem: replica.troubleAt(nowMs),
      inFlight: replica.active,
    }));
  }

  /** Replicas that stay keep their connections and their state. */
  #setReplicas(endpoint: Endpoint, wanted: readonly ManagedReplica[]): void {
    const before = endpoint.replicas;
    const leaving = new Map(before.map((replica) => [replica.id, replica]));
    const replicas = wanted.map((config) => {
      const replica = leaving.get(config.id);
      if (replica?.adopt(config) !== true) return this.#join(endpoint, config);
      leaving.delete(config.id);
      return replica;
    });
    for (const replica of leaving.values()) replica.drain();
    const isSame = replicas.length === before.length && replicas.every((replica, i) => replica === before[i]);
    if (isSame) endpoint.replicasChanged();
    else endpoint.setReplicas(replicas);
    for (const replica of leaving.values()) this.#fleet.leave(replica, AS_LONG_AS_IT_TAKES);
    for (const replica of replicas)
      if (replica.checkedMs === 0 || replica.state !== 'ready') void this.#fleet.look(replica);
  }

  /**
   * A replica that its runner has found ready takes requests at once if its models are known; an upstream must pass a
   * health check first.
   */
  #join(endpoint: Endpoint, config: ManagedReplica): LiveReplica {
    const replica = this.#fleet.make(config, endpoint);
    if (config.external === undefined && config.models !== null) replica.healthy(this.#nowMs());
    return replica;
  }

  #endpoint(workspace: string, name: string): Endpoint | undefined {
    const endpoint = this.#fleet.directory.get(managedName(workspace, name));
    return endpoint?.managed ? endpoint : undefined;
  }

  /** The endpoint's replicas, then those that have left it and still have requests. */
  #known(workspace: string, name: string): LiveReplica[] {
    const full = managedName(workspace, name);
    const present = this.#endpoint(workspace, name)?.replicas ?? [];
    return [...present, ...this.#fleet.leaving().filter(({ endpoint }) => endpoint === full)];
  }

  /** Refuses an invalid endpoint before anything has changed. */
  #refuse({ name, replicas, workspace }: ManagedEndpoint): void {
    const full = managedName(workspace, name);
    const ofFile = workspace === FILE_WORKSPACE ? [full, name] : [full];
    if (ofFile.some((taken) => this.#fleet.directory.get(taken)?.managed === null)) throw endpointTaken(full);
    if (replicas.length > MOST_REPLICAS) throw tooManyReplicas(`endpoint '${full}'`, MOST_REPLICAS);
    if (replicas.length === 0) return;
    const taken = new Set<string>();
    for (const { name: other, replicas: others } of this.#fleet.directory.unordered()) {
      if (other !== full) for (const { id } of others) taken.add(id);
    }
    for (const { engine, external, id } of replicas) {
      if (taken.has(id)) throw replicaTaken(id);
      if (external === undefined) measuredEngine(engine, id);
      taken.add(id);
    }
  }
}
