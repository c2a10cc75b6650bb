import { InputError } from '../../../kernel/errors.js';
import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { Status } from '../../resources/resource.js';
import type { ReplicaHandle } from '../../runner/contract.js';
import type { Reconciler } from '../reconciler.js';
import { refKey } from '../ref-key.js';
import { carryOut } from './carry-out.js';
import { EndpointMemory } from './endpoint-memory.js';
import type { EndpointParts } from './endpoint-parts.js';
import { EndpointRoutes, type Outlook } from './endpoint-routes.js';
import type { DesiredEndpoint, EndpointPlan } from './endpoint-state.js';
import { endpointWish } from './endpoint-wish.js';
import { observeReplicas } from './observe-replicas.js';
import { planEndpoint } from './plan-endpoint.js';
import { tellNews, tellStatus } from './tell-endpoint.js';

const KIND = 'Endpoint';
/** What an endpoint that is no more wants. */
const NOTHING: DesiredEndpoint = { replicas: 0, specHash: null, maxSurge: 0, maxUnavailable: 0 };

/** How soon a name that was taken is tried again. */
const ROUTES_AGAIN_MS = 5000;

interface Known {
  readonly uid: string;
  readonly memory: EndpointMemory;
  readonly routes: EndpointRoutes;
}

/** Keeps endpoints true: looks, plans, does, looks again, and tells. */
export class EndpointReconciler implements Reconciler {
  readonly kind = KIND;
  readonly #parts: EndpointParts;
  readonly #known = new Map<string, Known>();

  constructor(parts: EndpointParts) {
    this.#parts = parts;
  }

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const parts = this.#parts;
    const key = refKey(ref);
    const record = await parts.store.resources.get(ref);
    const { memory, routes } = this.#knownOf(key, record);
    const wish = record === null ? null : await endpointWish(record, key, parts);
    const desired = wish?.desired ?? NOTHING;
    const before = await observeReplicas(ref, parts, memory);
    memory.look(before);
    const plan = planEndpoint({
      ...{ desired, replicas: before, now: parts.timing.now() },
      startsFrom: memory.failedStart?.specHash === desired.specHash ? memory.failedStart!.from : 0,
    });
    // First of all: who leaves gets nothing from here on.
    let unrouted: string | null = null;
    if (record === null || record.deletedAt !== null) routes.remove(ref.workspace, ref.name);
    else unrouted = problemIn(() => routes.put(record, plan.routed, wish!, outlookOf(plan, desired, memory)));
    const asked = record === null ? null : { record, wish: wish! };
    const isMore = await carryOut(plan, ref, asked, parts, memory);
    // What has just been found out about starts is told to clients too.
    if (asked !== null) routes.expect(asked.wish, outlookOf(plan, desired, memory));
    const after = await observeReplicas(ref, parts, memory);
    if (asked === null) {
      if (after.length === 0) this.#known.delete(key);
      return null;
    }
    await tellNews(asked.record, before, after, parts, memory);
    if (asked.record.deletedAt !== null && after.length === 0) {
      await parts.store.remove(ref, asked.record.uid);
      return null;
    }
    await tellStatus(asked.record, asked.wish, after, unrouted, parts, memory);
    if (isMore) return 0;
    return this.#waitMs([plan.wakeAt, unrouted === null ? null : parts.timing.now() + ROUTES_AGAIN_MS], memory);
  }

  /** A replica is not ready any more: that has to be known to the gateway at once. */
  lose({ endpoint, id, workspace }: Pick<ReplicaHandle, 'endpoint' | 'id' | 'workspace'>): void {
    this.#known.get(refKey({ kind: KIND, workspace, name: endpoint }))?.routes.lose(id);
  }

  /** Something has been given back: the keys of those who may fit now. */
  roomFreed(): string[] {
    const waiting = [...this.#known].filter(([, { memory }]) => memory.failedStart?.isPassing);
    for (const [, { memory }] of waiting) memory.failedStart = { ...memory.failedStart!, from: 0 };
    return waiting.map(([key]) => key);
  }

  #knownOf(key: string, record: ResourceRecord | null): Known {
    const known = this.#known.get(key);
    if (known !== undefined && (record === null || record.uid === known.uid)) return known;
    const made: Known = {
      uid: record?.uid ?? '',
      memory: new EndpointMemory((record?.status ?? null) as Status | null),
      routes: known?.routes ?? new EndpointRoutes(this.#parts.routes),
    };
    this.#known.set(key, made);
    return made;
  }

  #waitMs(planned: readonly (number | null)[], { failedStart }: EndpointMemory): number | null {
    const now = this.#parts.timing.now();
    const times = planned.filter((time) => time !== null);
    if (failedStart !== null && failedStart.from > now) times.push(failedStart.from);
    return times.length === 0 ? null : Math.max(0, Math.min(...times) - now);
  }
}

function outlookOf(
  { prospect }: EndpointPlan,
  { specHash }: DesiredEndpoint,
  { failedStart }: EndpointMemory,
): Outlook {
  return { prospect, failedStart: failedStart?.specHash === specHash ? failedStart : null };
}

/** What can be put right keeps an endpoint from its routes, and from nothing else. */
function problemIn(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.message;
  }
}
