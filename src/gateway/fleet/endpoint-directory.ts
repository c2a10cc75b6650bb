import { EVERY_WORKSPACE, EVERYTHING, isReached, type Reach } from '../access/reach.js';
import type { EndpointConfig } from '../config/gateway-config.js';
import {
  EndpointsNotSettled,
  endpointTaken,
  endpointUnknown,
  modelUnknown,
  noReplica,
  replicaTaken,
} from '../errors.js';
import type { FlowControl } from '../flow/flow-control.js';
import type { Endpoint } from './endpoint/endpoint.js';
import type { LiveReplica } from './replica/live-replica.js';
import { Settling } from './settling.js';

/** The workspace that endpoints of the configuration belong to. */
export const FILE_WORKSPACE = 'default';

/** The name of a managed endpoint in metrics, logs and explanations. */
export function managedName(workspace: string, name: string): string {
  return `${workspace}/${name}`;
}

/** The workspace of an endpoint. */
export function endpointWorkspace({ managed }: Pick<Endpoint, 'managed'>): string {
  return managed === null ? FILE_WORKSPACE : managed.workspace;
}

/** The flow control of those that have used it. */
export function flowsOf(endpoints: ReadonlyMap<string, Endpoint>): Map<string, FlowControl> {
  const flows = new Map<string, FlowControl>();
  for (const { name, usedFlow } of endpoints.values()) if (usedFlow !== null) flows.set(name, usedFlow);
  return flows;
}

const NONE: readonly Endpoint[] = [];

/** The endpoints of a gateway by name, and which of them serves a request. */
export class EndpointDirectory {
  /** Those of the configuration in its order, then managed ones by workspace and name. */
  readonly #byName = new Map<string, Endpoint>();
  /** While the control plane has not declared all endpoints, an unknown one may still be declared. */
  readonly settling = new Settling();

  /** The same by workspace, in the same order: a request looks only where its key reaches. */
  readonly #byWorkspace = new Map<string, Endpoint[]>();

  /** Whether endpoints have been inserted since they were last in order. */
  #isMixed = false;

  get byName(): ReadonlyMap<string, Endpoint> {
    if (this.#isMixed) this.sort();
    return this.#byName;
  }

  get(name: string): Endpoint | undefined {
    return this.#byName.get(name);
  }

  /** All endpoints, without the cost of their order after some were added. */
  unordered(): Iterable<Endpoint> {
    return this.#byName.values();
  }

  /** Adds an endpoint anywhere: it is in its place when the order is next read. */
  insert(endpoint: Endpoint): void {
    this.add(endpoint);
    this.#isMixed = true;
  }

  add(endpoint: Endpoint): void {
    this.#byName.set(endpoint.name, endpoint);
    const workspace = endpointWorkspace(endpoint);
    const others = this.#byWorkspace.get(workspace);
    if (others === undefined) this.#byWorkspace.set(workspace, [endpoint]);
    else others.push(endpoint);
  }

  remove(endpoint: Endpoint): void {
    this.#byName.delete(endpoint.name);
    const workspace = endpointWorkspace(endpoint);
    const left = this.#byWorkspace.get(workspace)?.filter((other) => other !== endpoint) ?? [];
    if (left.length === 0) this.#byWorkspace.delete(workspace);
    else this.#byWorkspace.set(workspace, left);
  }

  replicas(): LiveReplica[] {
    return [...this.byName.values()].flatMap(({ replicas }) => replicas);
  }

  models(): string[] {
    return [...this.reachedModels(null, null).keys()];
  }

  /**
   * The models within reach, by name, each with the replicas that serve it: those of the endpoint that a path names, or
   * of all. Throws an ApiError when there is no endpoint of that name within reach.
   */
  reachedModels(name: string | null, workspace: string | null, reach: Reach = EVERYTHING): Map<string, LiveReplica[]> {
    const found = new Map<string, Set<LiveReplica>>();
    const named = name === null ? null : this.#named(name, workspace ?? '', reach);
    if (named === null && this.settling.isOn) throw new EndpointsNotSettled();
    for (const { models, workspace: reached } of reach) {
      const endpoints = named === null ? this.#in(reached) : isWithin(named, reached) ? [named] : NONE;
      for (const { replicas } of endpoints) {
        for (const replica of replicas) {
          for (const model of replica.models) {
            if (models !== null && !models.has(model)) continue;
            const others = found.get(model);
            if (others === undefined) found.set(model, new Set([replica]));
            else others.add(replica);
          }
        }
      }
    }
    return new Map([...found].sort(([a], [b]) => compare(a, b)).map(([model, replicas]) => [model, [...replicas]]));
  }

  /**
   * The endpoint of this name or, without one, an endpoint that serves the model; throws an ApiError when there is
   * none within reach, the same whether or not there is one elsewhere.
   */
  find(model: string, name: string | null, workspace: string | null = null, reach: Reach = EVERYTHING): Endpoint {
    const endpoint = name === null ? this.#ofModel(model, reach) : this.#namedFor(model, name, workspace ?? '', reach);
    if (this.settling.isOn && !endpoint.isReadyFor(model)) throw new EndpointsNotSettled();
    return endpoint;
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
    this.#isMixed = false;
    const all = [...this.#byName.values()];
    const managed = all.filter((endpoint) => endpoint.managed !== null);
    managed.sort(({ managed: a }, { managed: b }) => compare(a!.workspace, b!.workspace) || compare(a!.name, b!.name));
    this.#byName.clear();
    this.#byWorkspace.clear();
    for (const endpoint of all) if (endpoint.managed === null) this.add(endpoint);
    for (const endpoint of managed) this.add(endpoint);
  }

  /** The endpoints of a workspace, or of every one. */
  #in(workspace: string): Iterable<Endpoint> {
    const { byName } = this;
    return workspace === EVERY_WORKSPACE ? byName.values() : (this.#byWorkspace.get(workspace) ?? NONE);
  }

  /** The first endpoint with a ready replica for the model or, where there is none, the first that serves it. */
  #ofModel(model: string, reach: Reach): Endpoint {
    let first: Endpoint | null = null;
    for (const { models, workspace } of reach) {
      if (models !== null && !models.has(model)) continue;
      for (const endpoint of this.#in(workspace)) {
        if (endpoint.isReadyFor(model)) return endpoint;
        if ((first === null || first.managed?.isIdle === true) && endpoint.serves(model)) first = endpoint;
      }
    }
    if (first !== null) return worthAsking(first, model);
    if (this.settling.isOn) throw new EndpointsNotSettled();
    const candidates = reach.filter(({ models }) => models === null || models.has(model));
    throw missing(
      model,
      candidates.flatMap(({ workspace }) => [...this.#in(workspace)]),
    );
  }

  /** The endpoint of a name if it serves the model or may do so later. */
  #namedFor(model: string, name: string, workspace: string, reach: Reach): Endpoint {
    const endpoint = this.#named(name, workspace, reach);
    if (!isReached(reach, workspace, model)) throw modelUnknown(model);
    const { managed, replicas } = endpoint;
    const isUnknown = managed !== null && managed.models === undefined && replicas.length === 0;
    if (endpoint.serves(model) || isUnknown) return worthAsking(endpoint, model);
    throw missing(model, [endpoint]);
  }

  /** The endpoint of a workspace within reach. */
  #named(name: string, workspace: string, reach: Reach): Endpoint {
    if (isReached(reach, workspace, null)) {
      const own = this.byName.get(managedName(workspace, name));
      if (own?.managed?.workspace === workspace) return own;
      const ofFile = workspace === FILE_WORKSPACE ? this.byName.get(name) : undefined;
      if (ofFile?.managed === null) return ofFile;
    }
    throw this.settling.isOn ? new EndpointsNotSettled() : endpointUnknown(name);
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
  const isStarting = endpoints.some(
    ({ discovery, replicas }) =>
      (discovery !== null && replicas.length === 0) || replicas.some(({ models }) => models.size === 0),
  );
  return isStarting ? noReplica(model, 'some have not started yet') : modelUnknown(model);
}

function isWithin(endpoint: Endpoint, workspace: string): boolean {
  return workspace === EVERY_WORKSPACE || endpointWorkspace(endpoint) === workspace;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
