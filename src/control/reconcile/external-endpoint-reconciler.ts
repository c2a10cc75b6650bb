import type { ManagedReplica, ManagedRoutes } from '../../gateway/fleet/managed-routes.js';
import { upstreamAddress } from '../../gateway/fleet/upstream-address.js';
import { DEFAULT_POLICY } from '../../gateway/gateway-config.js';
import type { ResourceRecord, ResourceRef } from '../../store/resource-record.js';
import type { ExternalEndpointSpec } from '../resources/kinds/external-endpoint.js';
import type { Status } from '../resources/resource.js';
import type { ControlStore } from '../store/control-store.js';
import type { Reconciler } from './reconciler.js';
import type { Timing } from './timing.js';

/** How often it is looked at what the gateway says of the upstreams. */
const AGAIN_MS = 2000;
/** The same while it is new, and how long it is that. */
const FIRST_MS = 250;
const NEW_MS = 5000;

/** Tells the gateway of upstreams that somebody else runs, and people how they are. */
export class ExternalEndpointReconciler implements Reconciler {
  readonly kind = 'ExternalEndpoint';

  /** When each edition was first looked at. */
  readonly #since = new Map<string, { readonly generation: number; readonly at: number }>();

  constructor(
    private readonly store: ControlStore,
    private readonly routes: Pick<ManagedRoutes, 'put' | 'remove' | 'states'>,
    private readonly timing: Timing,
  ) {}

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const record = await this.store.resources.get(ref);
    if (record === null) return null;
    const { name, workspace } = ref;
    if (record.deletedAt !== null) {
      this.routes.remove(workspace, name);
      this.#since.delete(record.uid);
      await this.store.remove(ref, record.uid);
      return null;
    }
    const spec = this.store.secretsOf(record) as ExternalEndpointSpec;
    const models = servedModels(spec);
    this.routes.put({
      ...{ workspace, name, policy: DEFAULT_POLICY },
      replicas: managedUpstreams(record, spec),
      ...(models === null ? {} : { models }),
      waitsFor: 'none of its upstreams answers',
    });
    const status = this.#statusOf(record, spec);
    await this.store.putStatus(ref, record.uid, status);
    const last = (record.status as Status | null)?.phase;
    if (last !== status.phase) {
      const type = status.phase === 'Running' || status.phase === 'Pending' ? 'normal' : 'warning';
      await this.store.events.add(record, type, status.phase, status.message);
    }
    return status.phase === 'Pending' ? FIRST_MS : AGAIN_MS;
  }

  #statusOf({ generation, name, uid, workspace }: ResourceRecord, { upstreams }: ExternalEndpointSpec) {
    const ids = upstreams.map((one) => idOf(workspace, name, one.name));
    const states = this.routes.states(workspace, name).filter(({ id }) => ids.includes(id));
    const healthy = states.filter(({ state }) => state === 'ready').length;
    const now = this.timing.now();
    if (this.#since.get(uid)?.generation !== generation) this.#since.set(uid, { generation, at: now });
    const isNew = now - this.#since.get(uid)!.at < NEW_MS && states.some(({ state }) => state === 'starting');
    const ill = states.find(({ state }) => state !== 'ready');
    const message = ill === undefined ? '' : `${ill.id} ${ill.problem || `is ${ill.state}`}`;
    const phase = healthy === upstreams.length ? 'Running' : healthy > 0 ? 'Degraded' : isNew ? 'Pending' : 'Failed';
    return { phase, message, observed_generation: generation, healthy };
  }
}

/** What requests may call models; null when one of the upstreams passes every name on. */
function servedModels({ upstreams }: ExternalEndpointSpec): string[] | null {
  if (upstreams.some(({ models }) => Object.keys(models).length === 0)) return null;
  return [...new Set(upstreams.flatMap(({ models }) => Object.keys(models)))].sort();
}

const idOf = (workspace: string, name: string, upstream: string) => `${workspace}.${name}.${upstream}`;

function managedUpstreams({ name, workspace }: ResourceRecord, spec: ExternalEndpointSpec): ManagedReplica[] {
  const firstByteMs = spec.timeout_s * 1000;
  return spec.upstreams.map(({ credential = null, models, name: upstream, tier, url: address, weight }) => {
    const { prefix, url } = upstreamAddress(address);
    const names = Object.keys(models);
    return {
      ...{ id: idOf(workspace, name, upstream), url },
      // It has no metrics that could be called anything.
      engine: 'vllm',
      models: names.length === 0 ? null : names,
      external: { prefix, credential, renames: models, weight, tier, firstByteMs },
    };
  });
}
