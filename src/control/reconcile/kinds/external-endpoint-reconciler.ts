import { DEFAULT_ENGINE } from '../../../engines/engine.js';
import { DEFAULT_POLICY } from '../../../gateway/config/gateway-config.js';
import type { ManagedReplica, ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import { upstreamAddress } from '../../../gateway/fleet/replica/external-api.js';
import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { ExternalEndpointSpec } from '../../resources/kinds/external-endpoint.js';
import type { Status } from '../../resources/resource.js';
import type { ControlStore } from '../../store/control-store.js';
import type { Reconciler } from '../queue/reconciler.js';
import { refKey } from '../queue/ref-key.js';
import type { Timing } from '../queue/timing.js';

/** How often the gateway's state of the upstreams is read. */
const AGAIN_MS = 1000;
/** The same while the endpoint is new, and how long that lasts. */
const FIRST_MS = 250;
const NEW_MS = 5000;

/** Routes to upstreams that are run elsewhere, and reports their health. */
export class ExternalEndpointReconciler implements Reconciler {
  readonly kind = 'ExternalEndpoint';

  /** The version of each that the gateway has, and since when. */
  readonly #applied = new Map<string, { readonly uid: string; readonly generation: number; readonly at: number }>();

  constructor(
    private readonly store: ControlStore,
    private readonly routes: Pick<ManagedRoutes, 'put' | 'remove' | 'states'>,
    private readonly timing: Timing,
    /** Whether this process reports the status; others only route. */
    private readonly isLeader: () => boolean = () => true,
  ) {}

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const record = await this.store.resources.get(ref);
    const key = refKey(ref);
    const { name, workspace } = ref;
    if (record === null || record.deletedAt !== null) {
      if (this.#applied.delete(key)) this.routes.remove(workspace, name);
      if (record !== null && this.isLeader()) await this.store.remove(ref, record.uid);
      return null;
    }
    const applied = this.#applied.get(key);
    if (applied?.generation !== record.generation || applied.uid !== record.uid) this.#apply(key, record);
    if (!this.isLeader()) return null;
    const status = this.#statusOf(record);
    const before = record.status as ShownStatus | null;
    if (!isSame(before, status)) await this.store.putStatus(ref, record.uid, status);
    if (before?.phase !== status.phase) {
      const type = status.phase === 'Running' || status.phase === 'Pending' ? 'normal' : 'warning';
      await this.store.events.add(record, type, status.phase, status.message || healthyText(status.healthy));
    }
    return status.phase === 'Pending' ? FIRST_MS : AGAIN_MS;
  }

  #apply(key: string, record: ResourceRecord): void {
    const { generation, name, uid, workspace } = record;
    const spec = this.store.secretsOf(record) as ExternalEndpointSpec;
    const models = servedModels(spec);
    this.routes.put({
      ...{ workspace, name, policy: DEFAULT_POLICY },
      replicas: managedUpstreams(record, spec),
      ...(models === null ? {} : { models }),
      waitsFor: 'none of its upstreams responds',
    });
    this.#applied.set(key, { uid, generation, at: this.timing.now() });
  }

  /** An upstream that is ready but fails requests is not healthy. */
  #statusOf(record: ResourceRecord) {
    const { generation, name, spec, workspace } = record;
    const { upstreams } = spec as ExternalEndpointSpec;
    const ids = upstreams.map((one) => idOf(workspace, name, one.name));
    const states = this.routes.states(workspace, name).filter(({ id }) => ids.includes(id));
    const unhealthy = states.filter(({ problem, state }) => state !== 'ready' || problem !== '');
    const healthy = states.length - unhealthy.length;
    const isNew =
      this.timing.now() - this.#applied.get(refKey(record))!.at < NEW_MS &&
      states.some(({ state }) => state === 'starting');
    const message = unhealthy.map(({ id, problem, state }) => `${id} ${problem || `is ${state}`}`).join('; ');
    const phase = healthy === upstreams.length ? 'Running' : healthy > 0 ? 'Degraded' : isNew ? 'Pending' : 'Failed';
    return { phase, message, observed_generation: generation, healthy };
  }
}

/** The event of a phase that has no message. */
const healthyText = (healthy: number) => (healthy === 1 ? 'its upstream responds' : `all ${healthy} upstreams respond`);

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

/** The models that are served; null when one of the upstreams accepts any name. */
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
      // Its metrics are never read.
      engine: DEFAULT_ENGINE,
      models: names.length === 0 ? null : names,
      external: {
        prefix,
        credential,
        renames: models,
        weight,
        tier,
        firstByteMs,
        isGuarded: spec.local_addresses !== true,
      },
    };
  });
}
