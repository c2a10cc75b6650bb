import type { ManagedEndpoint, ManagedReplica, ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { type EndpointSpec, endpointPolicy } from '../../resources/kinds/endpoint.js';
import type { EndpointPlan, ObservedReplica } from './endpoint-state.js';
import type { Hindrance } from './endpoint-status.js';
import type { EndpointWish } from './endpoint-wish.js';
import { servedModel } from './replica-template.js';

/** What is to be expected while nobody is ready. */
export interface Outlook extends Pick<EndpointPlan, 'prospect'> {
  /** Why the last start failed. */
  readonly failedStart: Hindrance | null;
}

/** What the gateway was told of one endpoint. */
export class EndpointRoutes {
  #told: ManagedEndpoint | null = null;
  /** Each replica as it was first told: what an update changes does not change who is there already. */
  #replicas = new Map<string, ManagedReplica>();

  constructor(private readonly routes: Pick<ManagedRoutes, 'put' | 'remove'>) {}

  /** Makes the gateway send requests to exactly these. Throws an `InputError` when it cannot have an endpoint of this name. */
  put(record: ResourceRecord, routed: readonly ObservedReplica[], wish: EndpointWish, outlook: Outlook): void {
    const spec = record.spec as EndpointSpec;
    const replicas = routed.map((one) => this.#replicas.get(one.id) ?? managedReplica(one, spec, wish));
    this.#tell({
      workspace: record.workspace,
      name: record.name,
      policy: endpointPolicy(spec, (path) => `Endpoint ${record.workspace}/${record.name} (${path})`),
      replicas,
      models: [servedModel(spec)],
      ...expectation(wish, outlook),
    });
    this.#replicas = new Map(replicas.map((one) => [one.id, one]));
  }

  /** The same replicas, and what is now to be expected of others. */
  expect(wish: EndpointWish, outlook: Outlook): void {
    if (this.#told === null) return;
    const { isIdle, waitsFor, ...told } = this.#told;
    this.#tell({ ...told, ...expectation(wish, outlook) });
  }

  /** A replica takes no more requests from now on, whatever else is under way. */
  lose(id: string): void {
    if (this.#told === null || !this.#replicas.delete(id)) return;
    this.#tell({ ...this.#told, replicas: this.#told.replicas.filter((one) => one.id !== id) });
  }

  remove(workspace: string, name: string): void {
    if (this.#told === null) return;
    this.routes.remove(workspace, name);
    this.#told = null;
    this.#replicas.clear();
  }

  #tell(endpoint: ManagedEndpoint): void {
    if (JSON.stringify(endpoint) === JSON.stringify(this.#told)) return;
    this.routes.put(endpoint);
    this.#told = endpoint;
  }
}

/** Of one that an earlier generation started nobody knows any more what it serves: it is asked. */
function managedReplica(
  { id, specHash, url }: ObservedReplica,
  spec: EndpointSpec,
  wish: EndpointWish,
): ManagedReplica {
  const { desired, engine } = wish;
  const models = specHash === desired.specHash ? [servedModel(spec)] : null;
  if (engine === null) return { id, url, engine: 'vllm', models };
  return { id, url, engine: engine.metrics, models, healthPath: engine.health_path, loadPath: engine.load_path };
}

/** What clients are told while nobody is ready. Why in detail is not for them: they may know nothing of the machine. */
function expectation(
  { desired, hindrance, model }: EndpointWish,
  { failedStart, prospect }: Outlook,
): Pick<ManagedEndpoint, 'waitsFor' | 'isIdle'> {
  if (desired.replicas === 0) return { waitsFor: 'it is paused', isIdle: true };
  if (hindrance !== null || model.state === 'failed') return { waitsFor: 'it cannot be started now', isIdle: true };
  if (model.state === 'fetching') return { waitsFor: 'its model is being downloaded', isIdle: true };
  if (prospect !== 'here' && failedStart !== null) {
    return {
      waitsFor: failedStart.isPassing ? 'there is no room for its replicas' : 'its replicas cannot be started',
      isIdle: true,
    };
  }
  if (prospect === 'failing') return { waitsFor: 'its replicas fail again and again', isIdle: true };
  return { waitsFor: 'its replicas are starting' };
}
