import type { EndpointConfig } from '../config/gateway-config.js';
import {
  endpointNotSettled,
  endpointTaken,
  endpointUnknown,
  modelUnknown,
  noReplica,
  replicaTaken,
} from '../errors.js';
import type { Endpoint } from './endpoint/endpoint.js';
import type { LiveReplica } from './replica/live-replica.js';

/** The workspace that endpoints of the configuration belong to. */
export const FILE_WORKSPACE = 'default';

/** The name of a managed endpoint in metrics, logs and explanations. */
export function managedName(workspace: string, name: string): string {
  return `${workspace}/${name}`;
}

/** The endpoints of a gateway by name, and which of them serves a request. */
export class EndpointDirectory {
  /** Those of the configuration in its order, then managed ones by workspace and name. */
  readonly byName = new Map<string, Endpoint>();
  /** The control plane has not declared all endpoints yet: an unknown one may still be declared. */
  isSettling = false;

  add(endpoint: Endpoint): void {
    this.byName.set(endpoint.name, endpoint);
  }

  replicas(): LiveReplica[] {
    return [...this.byName.values()].flatMap(({ replicas }) => replicas);
  }

  models(): string[] {
    return servedModels(this.replicas());
  }

  /**
   * The replicas of the endpoint that a path names, or of all; throws an ApiError when there is no endpoint of that
   * name.
   */
  replicasOf(name: string | null, workspace: string | null): readonly LiveReplica[] {
    return name === null ? this.replicas() : this.#named(name, workspace ?? '').replicas;
  }

  /**
   * The endpoint of this name or, without one, an endpoint that serves the model; throws an ApiError when there is
   * none.
   */
  find(model: string, name: string | null, workspace: string | null = null): Endpoint {
    return name === null ? this.#ofModel(model) : this.#namedFor(model, name, workspace ?? '');
  }

  /** Throws an InputError when a configuration names a managed endpoint or a replica of one. */
  refuseTaken(wanted: readonly EndpointConfig[]): void {
    const ids = new Set<string>();
    for (const { managed, replicas } of this.byName.values()) {
      if (managed !== null) for (const { id } of replicas) ids.add(id);
    }
    for (const { name, replicas } of wanted) {
      const managed = this.byName.get(name)?.managed ?? this.byName.get(managedName(FILE_WORKSPACE, name))?.managed;
      if (managed) throw endpointTaken(name);
      for (const { id } of replicas) if (ids.has(id)) throw replicaTaken(id);
    }
  }

  sort(): void {
    const all = [...this.byName.values()];
    const managed = all.filter((endpoint) => endpoint.managed !== null);
    managed.sort(({ managed: a }, { managed: b }) => compare(a!.workspace, b!.workspace) || compare(a!.name, b!.name));
    this.byName.clear();
    for (const endpoint of all) if (endpoint.managed === null) this.add(endpoint);
    for (const endpoint of managed) this.add(endpoint);
  }

  /** The first endpoint with a ready replica for the model or, where there is none, the first that serves it. */
  #ofModel(model: string): Endpoint {
    let first: Endpoint | null = null;
    for (const endpoint of this.byName.values()) {
      if (endpoint.isReadyFor(model)) return endpoint;
      if ((first === null || first.managed?.isIdle === true) && endpoint.serves(model)) first = endpoint;
    }
    if (first !== null) return worthAsking(first, model);
    if (this.isSettling) throw noReplica(model, 'endpoints are still being looked up');
    throw missing(model, [...this.byName.values()]);
  }

  /** The endpoint of a name if it serves the model or may do so later. */
  #namedFor(model: string, name: string, workspace: string): Endpoint {
    const endpoint = this.#named(name, workspace);
    const { managed, replicas } = endpoint;
    const isUnknown = managed !== null && managed.models === undefined && replicas.length === 0;
    if (endpoint.serves(model) || isUnknown) return worthAsking(endpoint, model);
    throw missing(model, [endpoint]);
  }

  /** The endpoint of a workspace. */
  #named(name: string, workspace: string): Endpoint {
    const own = this.byName.get(managedName(workspace, name));
    if (own?.managed) return own;
    const ofFile = workspace === FILE_WORKSPACE ? this.byName.get(name) : undefined;
    if (ofFile?.managed === null) return ofFile;
    throw this.isSettling ? endpointNotSettled(name) : endpointUnknown(name);
  }
}

/** The endpoint, unless it is idle and has no replica: then the request is refused at once. */
function worthAsking(endpoint: Endpoint, model: string): Endpoint {
  const { managed, replicas } = endpoint;
  if (managed?.isIdle !== true || replicas.length > 0) return endpoint;
  throw noReplica(model, managed.waitsFor ?? 'there are none');
}

/** While a replica has not listed its models, one of them may be the model: that is worth another try. */
function missing(model: string, endpoints: readonly Endpoint[]): Error {
  const isStarting = endpoints.some(({ replicas }) => replicas.some(({ models }) => models.size === 0));
  return isStarting ? noReplica(model, 'some have not started yet') : modelUnknown(model);
}

/** The names of the models of some replicas, each once, in order. */
export function servedModels(replicas: readonly LiveReplica[]): string[] {
  return [...new Set(replicas.flatMap(({ models }) => [...models]))].sort();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
