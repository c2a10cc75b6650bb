import { DEFAULT_POLICY } from '../../gateway/config/gateway-config.js';
import type { ManagedReplica, ManagedRoutes } from '../../gateway/fleet/managed-routes.js';
import { upstreamAddress } from '../../gateway/fleet/replica/external-api.js';
import type { ResourceRecord, ResourceRef } from '../../store/resources/resource-record.js';
import type { ExternalEndpointSpec } from '../resources/kinds/external-endpoint.js';
import type { Status } from '../resources/resource.js';
import type { ControlStore } from '../store/control-store.js';
import type { Reconciler } from './reconciler.js';
import type { Timing } from './timing.js';

/** How often it is looked at what the gateway says of the upstreams. */
const AGAIN_MS = 1000;
/** The same while it is new, and how long it is that. */
const FIRST_MS = 250;
const NEW_MS = 5000;

/** Tells the gateway of upstreams that somebody else runs, and people how they are. */
export class ExternalEndpointReconciler implements Reconciler {
  readonly kind = 'ExternalEndpoint';

  /** Which edition of each the gateway has, and since when. */
  readonly #told = new Map<string, { readonly generation: number; readonly at: number }>();

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
      this.#told.delete(record.uid);
      await this.store.remove(ref, record.uid);
      return null;
    }
    if (this.#told.get(record.uid)?.generation !== record.generation) this.#tell(record);
    const status = this.#statusOf(record);
    const before = record.status as ShownStatus | null;
    if (!isSame(before, status)) await this.store.putStatus(ref, record.uid, status);
    if (before?.phase !== status.phase) {
      const type = status.phase === 'Running' || status.phase === 'Pending' ? 'normal' : 'warning';
      await this.store.events.add(record, type, status.phase, status.message || wellText(status.healthy));
    }
    return status.phase === 'Pending' ? FIRST_MS : AGAIN_MS;
  }

  #tell(record: ResourceRecord): void {
    const { generation, name, uid, workspace } = record;
    const spec = this.store.secretsOf(record) as ExternalEndpointSpec;
    const models = servedModels(spec);
    this.routes.put({
      ...{ workspace, name, policy: DEFAULT_POLICY },
      replicas: managedUpstreams(record, spec),
      ...(models === null ? {} : { models }),
      waitsFor: 'none of its upstreams answers',
    });
    this.#told.set(uid, { generation, at: this.timing.now() });
  }

  /** An upstream that is ready and fails what it is asked is not well. */
  #statusOf({ generation, name, spec, uid, workspace }: ResourceRecord) {
    const { upstreams } = spec as ExternalEndpointSpec;
    const ids = upstreams.map((one) => idOf(workspace, name, one.name));
    const states = this.routes.states(workspace, name).filter(({ id }) => ids.includes(id));
    const ill = states.filter(({ problem, state }) => state !== 'ready' || problem !== '');
    const healthy = states.length - ill.length;
    const isNew =
      this.timing.now() - this.#told.get(uid)!.at < NEW_MS && states.some(({ state }) => state === 'starting');
    const message = ill.map(({ id, problem, state }) => `${id} ${problem || `is ${state}`}`).join('; ');
    const phase = healthy === upstreams.length ? 'Running' : healthy > 0 ? 'Degraded' : isNew ? 'Pending' : 'Failed';
    return { phase, message, observed_generation: generation, healthy };
  }
}

/** Of one that needs no more words where it stands beside the numbers. */
const wellText = (healthy: number) => (healthy === 1 ? 'its upstream answers' : `all ${healthy} upstreams answer`);

type ShownStatus = Omit<Status, 'conditions'>;

function isSame(before: ShownStatus | null, after: ShownStatus): boolean {
  return (
    before !== null &&
    before.phase === after.phase &&
    before.message === after.message &&
    before.observed_generation === after.observed_generation &&
    before.healthy === after.healthy
  );
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
