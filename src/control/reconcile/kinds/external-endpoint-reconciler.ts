import { DEFAULT_ENGINE } from '../../../engines/engine.js';
import { DEFAULT_POLICY } from '../../../gateway/config/gateway-config.js';
import type { ManagedReplica, ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import { upstreamAddress } from '../../../gateway/fleet/replica/external-api.js';
import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { ExternalEndpointSpec } from '../../resources/kinds/external-endpoint.js';
import type { Status } from '../../resources/resource.js';
import type { ControlStore } from '../../store/control-store.js';
import type { Reconciler, StartNeeds } from '../queue/reconciler.js';
import { refKey } from '../queue/ref-key.js';
import type { Timing } from '../queue/timing.js';

/** How often the gateway's state of an upstream is read. */
const AGAIN_MS = 1000;
/** The same while the endpoint is new, and how long that lasts. */
const FIRST_MS = 250;
const NEW_MS = 5000;

interface AppliedEndpoint {
  readonly uid: string;
  readonly generation: number;
  readonly workspace: string;
  readonly name: string;
  readonly ids: readonly string[];
  /** Since when the gateway has it. */
  readonly at: number;
  /** The status that was reported last; null before the first report. */
  shown: ShownStatus | null;
}

export interface ExternalEndpointParts {
  readonly store: ControlStore;
  readonly routes: Pick<ManagedRoutes, 'put' | 'remove' | 'states'>;
  readonly timing: Timing;
  /** Whether this process reports the status; others only route. */
  readonly isLeader: () => boolean;
  /** Called with the key of an endpoint whose status is not the reported one any more. */
  readonly changed: (key: string) => void;
}

/**
 * Routes to upstreams that are run elsewhere, and reports their health. The gateway's state is read from memory, a part
 * of the endpoints at a time; the store is used for those whose status changes.
 */
export class ExternalEndpointReconciler implements Reconciler {
  readonly kind = 'ExternalEndpoint';

  /** What the gateway has. */
  readonly #applied = new Map<string, AppliedEndpoint>();
  /** The endpoints that are left of a round over all of them. */
  #round: Iterator<[string, AppliedEndpoint]> | null = null;
  #cancel: (() => void) | null = null;

  constructor(private readonly parts: ExternalEndpointParts) {}

  restore(record: ResourceRecord): StartNeeds {
    const key = refKey(record);
    if (record.deletedAt !== null || this.#applied.has(key)) return 'now';
    try {
      this.#apply(key, record);
    } catch {
      // Reconciling it reports the problem.
    }
    return 'later';
  }

  async reconcile(ref: ResourceRef): Promise<null> {
    const { isLeader, routes, store } = this.parts;
    const record = await store.resources.get(ref);
    const key = refKey(ref);
    if (record === null || record.deletedAt !== null) {
      if (this.#applied.delete(key)) routes.remove(ref.workspace, ref.name);
      if (record !== null && isLeader()) await store.remove(ref, record.uid);
      return null;
    }
    const known = this.#applied.get(key);
    const isSame = known?.generation === record.generation && known.uid === record.uid;
    const applied = isSame ? known : this.#apply(key, record);
    if (!isLeader()) return null;
    const before = record.status as ShownStatus | null;
    const status = this.#statusOf(applied, before);
    if (!isSameStatus(before, status)) await store.putStatus(ref, record.uid, status);
    applied.shown = status;
    if (before?.phase !== status.phase) {
      const type = status.phase === 'Running' || status.phase === 'Pending' ? 'normal' : 'warning';
      await store.events.add(record, type, status.phase, status.message || healthyText(status.healthy));
    }
    this.#checkLater();
    return null;
  }

  close(): void {
    this.#cancel?.();
    this.#applied.clear();
  }

  #checkLater(): void {
    this.#cancel ??= this.parts.timing.after(FIRST_MS, () => {
      this.#cancel = null;
      if (this.#applied.size === 0) return;
      this.#check();
      this.#checkLater();
    });
  }

  /** Reads the state of new endpoints, and of so many others that each is read once in `AGAIN_MS`. */
  #check(): void {
    for (const [key, one] of this.#applied) if (one.shown?.phase === 'Pending') this.#compare(key, one);
    for (let left = Math.ceil((this.#applied.size * FIRST_MS) / AGAIN_MS); left > 0; left--) {
      this.#round ??= this.#applied.entries();
      const { done, value } = this.#round.next();
      if (done) this.#round = null;
      else this.#compare(...value);
    }
  }

  #compare(key: string, applied: AppliedEndpoint): void {
    const { changed, isLeader } = this.parts;
    if (applied.shown !== null && isLeader() && !isSameStatus(applied.shown, this.#statusOf(applied, applied.shown)))
      changed(key);
  }

  #apply(key: string, record: ResourceRecord): AppliedEndpoint {
    const { routes, store, timing } = this.parts;
    const { generation, name, uid, workspace } = record;
    const spec = store.secretsOf(record) as ExternalEndpointSpec;
    const models = servedModels(spec);
    routes.put({
      ...{ workspace, name, uid, policy: DEFAULT_POLICY },
      replicas: managedUpstreams(record, spec),
      ...(models === null ? {} : { models }),
      waitsFor: 'none of its upstreams responds',
    });
    const ids = spec.upstreams.map((one) => idOf(workspace, name, one.name));
    const applied = { uid, generation, workspace, name, ids, at: timing.now(), shown: null };
    this.#applied.set(key, applied);
    return applied;
  }

  /**
   * An upstream that is ready but fails requests is not healthy. Until the upstreams have been checked after a start, the
   * status before stays.
   */
  #statusOf({ at, generation, ids, name, workspace }: AppliedEndpoint, before: ShownStatus | null): ShownStatus {
    const { routes, timing } = this.parts;
    const states = routes.states(workspace, name).filter(({ id }) => ids.includes(id));
    const unhealthy = states.filter(({ problem, state }) => state !== 'ready' || problem !== '');
    const healthy = states.length - unhealthy.length;
    const isNew = timing.now() - at < NEW_MS && states.some(({ state }) => state === 'starting');
    const message = unhealthy.map(({ id, problem, state }) => `${id} ${problem || `is ${state}`}`).join('; ');
    const phase = healthy === ids.length ? 'Running' : healthy > 0 ? 'Degraded' : isNew ? 'Pending' : 'Failed';
    if (phase === 'Pending' && before?.observed_generation === generation) return before;
    return { phase, message, observed_generation: generation, healthy };
  }
}

/** The event of a phase that has no message. */
const healthyText = (healthy: number) => (healthy === 1 ? 'its upstream responds' : `all ${healthy} upstreams respond`);

type ShownStatus = Pick<Status, 'phase' | 'message' | 'observed_generation'> & { readonly healthy: number };

function isSameStatus(before: ShownStatus | null, after: ShownStatus): boolean {
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
