import { DEFAULT_ENGINE } from '../../../engines/engine.js';
import type { ManagedEndpoint, ManagedReplica, ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import { engineVersion } from '../../resources/check-endpoint.js';
import { type EndpointSpec, endpointPolicy } from '../../resources/kinds/endpoint.js';
import type { EngineSpec, EngineVersion } from '../../resources/kinds/engine.js';
import type { Status } from '../../resources/resource.js';
import type { ControlStore } from '../../store/control-store.js';
import { refKey } from '../queue/ref-key.js';
import { replicaHardware } from './replica-hardware.js';
import { servedModel } from './replica-template.js';

interface ShownReplica {
  readonly id: string;
  readonly phase: string;
  readonly generation: number;
  readonly url: string;
  readonly gpu?: string;
}

export interface RemoteEndpointsOptions {
  readonly store: ControlStore;
  readonly routes: Pick<ManagedRoutes, 'put' | 'remove'>;
  /** Whether loopback addresses of the cluster's host are those of this machine. */
  readonly sharesLoopback: () => boolean;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Routes to the replicas of endpoints that another host runs, as that host reports them. */
export class RemoteEndpoints {
  readonly #applied = new Map<string, ManagedEndpoint>();

  constructor(private readonly options: RemoteEndpointsOptions) {}

  async route(record: ResourceRecord): Promise<void> {
    if (record.deletedAt !== null) {
      this.remove(record);
      return;
    }
    const engine = this.#reached(record).length === 0 ? null : await this.#engineOf(record.spec as EndpointSpec);
    this.#put(record, engine);
  }

  /** Routes an endpoint without replicas from its record alone. Returns false for others. */
  restore(record: ResourceRecord): boolean {
    if (record.deletedAt !== null || this.#applied.has(refKey(record)) || shownReplicas(record).length > 0)
      return false;
    this.#put(record, null);
    return true;
  }

  /** The endpoint is gone. */
  remove(ref: ResourceRef): void {
    if (this.forget(ref)) this.options.routes.remove(ref.workspace, ref.name);
  }

  /** The endpoint is run here from now on: its routes are left to its reconciler. Returns whether it was run elsewhere. */
  forget(ref: ResourceRef): boolean {
    return this.#applied.delete(refKey(ref));
  }

  #put(record: ResourceRecord, engine: EngineVersion | null): void {
    const key = refKey(record);
    const before = this.#applied.get(key);
    const endpoint = this.#describe(record, before?.replicas ?? [], engine);
    if (JSON.stringify(endpoint) === JSON.stringify(before)) return;
    this.options.routes.put(endpoint);
    this.#applied.set(key, endpoint);
  }

  #describe(record: ResourceRecord, before: readonly ManagedReplica[], engine: EngineVersion | null): ManagedEndpoint {
    const { name, uid, workspace } = record;
    const spec = record.spec as EndpointSpec;
    const reached = this.#reached(record);
    return {
      ...{ workspace, name, uid },
      policy: endpointPolicy(spec, (path) => `Endpoint ${workspace}/${name} (${path})`),
      // An update of the endpoint does not change running replicas.
      replicas: reached.map(
        (one) => before.find(({ id, url }) => id === one.id && url === one.url) ?? routedReplica(one, record, engine),
      ),
      models: [servedModel(spec)],
      ...expectation(spec, record.status as Status | null, readyReplicas(record).length > reached.length),
    };
  }

  #reached(record: ResourceRecord): ShownReplica[] {
    return this.#routable(record).filter(({ url }) => this.#isReached(url));
  }

  /** Those that are ready; where none is, those that have been routed to: the gateway stops if it does not reach them. */
  #routable(record: ResourceRecord): ShownReplica[] {
    const ready = readyReplicas(record);
    if (ready.length > 0) return ready;
    const before = this.#applied.get(refKey(record))?.replicas ?? [];
    return shownReplicas(record).filter(
      ({ id, phase, url }) => phase === 'unready' && before.some((one) => one.id === id && one.url === url),
    );
  }

  #isReached(url: string): boolean {
    return this.options.sharesLoopback() || !LOOPBACK.test(new URL(url).hostname);
  }

  async #engineOf({ engine }: EndpointSpec): Promise<EngineVersion | null> {
    const found = await this.options.store.resources.get({ kind: 'Engine', workspace: '', name: engine.name });
    return found === null ? null : (engineVersion(found.spec as EngineSpec, engine.version)?.[1] ?? null);
  }
}

const shownReplicas = ({ status }: ResourceRecord) => ((status as Status | null)?.replicas ?? []) as ShownReplica[];
const readyReplicas = (record: ResourceRecord) => shownReplicas(record).filter(({ phase }) => phase === 'ready');

/** The models of a replica of an earlier generation are not known: the gateway queries the replica. */
function routedReplica(
  { generation, gpu, id, url }: ShownReplica,
  record: ResourceRecord,
  engine: EngineVersion | null,
): ManagedReplica {
  const spec = record.spec as EndpointSpec;
  const models = generation === record.generation ? [servedModel(spec)] : null;
  const hardware = { ...replicaHardware({}, spec, engine), ...(gpu === undefined ? {} : { hardware: gpu }) };
  if (engine === null) return { id, url, engine: DEFAULT_ENGINE, models, ...hardware };
  const { health_path: healthPath, load_path: loadPath, metrics } = engine;
  return { id, url, engine: metrics, models, healthPath, loadPath, ...hardware };
}

/** The message for clients while no replica is ready. */
function expectation(
  { replicas }: EndpointSpec,
  status: Status | null,
  isOutOfReach: boolean,
): Pick<ManagedEndpoint, 'waitsFor' | 'isIdle'> {
  if (replicas === 0) return { waitsFor: 'it is paused', isIdle: true };
  if (isOutOfReach) return { waitsFor: 'its replicas cannot be reached from this gateway', isIdle: true };
  if (status?.phase === 'Failed') return { waitsFor: 'its replicas cannot be started', isIdle: true };
  return { waitsFor: 'its replicas are starting' };
}
