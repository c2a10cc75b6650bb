import { DEFAULT_ENGINE } from '../../../engines/engine.js';
import type { ManagedEndpoint, ManagedReplica, ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { type EndpointSpec, endpointPolicy } from '../../resources/kinds/endpoint.js';
import type { EndpointPlan, ObservedReplica } from './plan/endpoint-state.js';
import { replicaHardware } from './replica-hardware.js';
import { servedModel } from './replica-template.js';
import type { ResolvedEndpoint } from './resolve-endpoint.js';
import type { Blocker } from './status/endpoint-status.js';

/** What clients can expect while no replica is ready. */
export interface Outlook extends Pick<EndpointPlan, 'prospect'> {
  /** Why the last start failed. */
  readonly failedStart: Blocker | null;
}

/** The routes of one endpoint in the gateway. */
export class EndpointRoutes {
  #applied: ManagedEndpoint | null = null;
  /** Each replica as it was first routed: an update of the endpoint does not change running replicas. */
  #replicas = new Map<string, ManagedReplica>();

  constructor(private readonly routes: Pick<ManagedRoutes, 'put' | 'remove'>) {}

  /** Routes requests to exactly these replicas. Throws an `InputError` when the gateway refuses the endpoint. */
  put(record: ResourceRecord, routed: readonly ObservedReplica[], resolved: ResolvedEndpoint, outlook: Outlook): void {
    const spec = record.spec as EndpointSpec;
    const replicas = routed.map((one) => this.#replicas.get(one.id) ?? managedReplica(one, spec, resolved));
    this.#apply({
      workspace: record.workspace,
      uid: record.uid,
      name: record.name,
      policy: endpointPolicy(spec, (path) => `Endpoint ${record.workspace}/${record.name} (${path})`),
      replicas,
      models: [servedModel(spec)],
      task: spec.model.task,
      ...expectation(resolved, outlook),
    });
    this.#replicas = new Map(replicas.map((one) => [one.id, one]));
  }

  /** Keeps the replicas, and updates what clients can expect. */
  expect(resolved: ResolvedEndpoint, outlook: Outlook): void {
    if (this.#applied === null) return;
    const { isIdle, waitsFor, ...applied } = this.#applied;
    this.#apply({ ...applied, ...expectation(resolved, outlook) });
  }

  /** Removes one replica from the routes at once; the last one only if it has ended: the gateway may still reach it. */
  unroute(id: string, hasEnded: boolean): void {
    if (this.#applied === null || !this.#replicas.has(id)) return;
    if (this.#replicas.size === 1 && !hasEnded) return;
    this.#replicas.delete(id);
    this.#apply({ ...this.#applied, replicas: this.#applied.replicas.filter((one) => one.id !== id) });
  }

  remove(workspace: string, name: string): void {
    if (this.#applied === null) return;
    this.routes.remove(workspace, name);
    this.#applied = null;
    this.#replicas.clear();
  }

  #apply(endpoint: ManagedEndpoint): void {
    if (JSON.stringify(endpoint) === JSON.stringify(this.#applied)) return;
    this.routes.put(endpoint);
    this.#applied = endpoint;
  }
}

/** The models of a replica of an earlier generation are not known any more: the gateway queries the replica. */
function managedReplica(observed: ObservedReplica, spec: EndpointSpec, resolved: ResolvedEndpoint): ManagedReplica {
  const { id, specHash, url } = observed;
  const { desired, engine } = resolved;
  const models = specHash === desired.specHash ? [servedModel(spec)] : null;
  const hardware = replicaHardware(observed, spec, engine);
  if (engine === null) return { id, url, engine: DEFAULT_ENGINE, models, ...hardware };
  const { health_path: healthPath, load_path: loadPath, metrics } = engine;
  return { id, url, engine: metrics, models, healthPath, loadPath, ...hardware };
}

/** The message for clients while no replica is ready. It has no details: clients may not know about the cluster. */
function expectation(
  { blocker, desired, model }: ResolvedEndpoint,
  { failedStart, prospect }: Outlook,
): Pick<ManagedEndpoint, 'waitsFor' | 'isIdle'> {
  if (desired.replicas === 0) return { waitsFor: 'it is paused', isIdle: true };
  if (blocker !== null || model.state === 'failed') return { waitsFor: 'it cannot be started now', isIdle: true };
  if (model.state === 'fetching') return { waitsFor: 'its model is being downloaded', isIdle: true };
  if (prospect !== 'available' && failedStart !== null) {
    return {
      waitsFor: failedStart.isTransient ? 'there is no room for its replicas' : 'its replicas cannot be started',
      isIdle: true,
    };
  }
  if (prospect === 'failing') return { waitsFor: 'its replicas keep failing', isIdle: true };
  return { waitsFor: 'its replicas are starting' };
}
