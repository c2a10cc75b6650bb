import { InputError } from '../../../kernel/errors.js';
import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { Status } from '../../resources/resource.js';
import type { ReplicaHandle } from '../../runner/contract.js';
import type { Reconciler, StartNeeds } from '../queue/reconciler.js';
import { refKey } from '../queue/ref-key.js';
import { applyPlan } from './apply-plan.js';
import { EndpointMemory } from './endpoint-memory.js';
import type { EndpointParts } from './endpoint-parts.js';
import { EndpointRoutes, type Outlook } from './endpoint-routes.js';
import type { DesiredEndpoint, EndpointPlan, ObservedReplica } from './plan/endpoint-state.js';
import { planEndpoint } from './plan/plan-endpoint.js';
import { reportEvents, reportStatus } from './report-endpoint.js';
import { resolveEndpoint, withoutReplicas } from './resolve-endpoint.js';

const KIND = 'Endpoint';
/** The desired state of an endpoint that does not exist any more. */
const NOTHING: DesiredEndpoint = { replicas: 0, specHash: null, maxSurge: 0, maxUnavailable: 0 };

/** How often to look whether the gateway reaches a new replica, while an old one waits for it. */
const REACH_MS = 200;

/** How soon routes that were refused are tried again. */
const ROUTES_RETRY_MS = 5000;

interface KnownEndpoint {
  readonly uid: string;
  readonly memory: EndpointMemory;
  readonly routes: EndpointRoutes;
}

/** Reconciles endpoints: observes, plans, applies the plan, observes again, and reports. */
export class EndpointReconciler implements Reconciler {
  readonly kind = KIND;
  readonly #parts: EndpointParts;
  readonly #known = new Map<string, KnownEndpoint>();

  constructor(parts: EndpointParts) {
    this.#parts = parts;
  }

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const parts = this.#parts;
    const key = refKey(ref);
    const record = await parts.store.resources.get(ref);
    const { memory, routes } = this.#knownOf(key, record);
    const resolved = record === null ? null : await resolveEndpoint(record, key, parts);
    const desired = resolved?.desired ?? NOTHING;
    const before = await this.#observe(ref, memory);
    memory.observe(before);
    const plan = planEndpoint({
      ...{ desired, replicas: before, now: parts.timing.now() },
      startsFrom: memory.failedStartOf(desired.specHash)?.retryAt ?? 0,
    });
    // Routes first: a replica that is drained gets no requests from here on.
    let unrouted: string | null = null;
    if (record === null || record.deletedAt !== null) routes.remove(ref.workspace, ref.name);
    else unrouted = problemIn(() => routes.put(record, plan.routed, resolved!, outlookOf(plan, desired, memory)));
    const endpoint = record === null ? null : { record, resolved: resolved! };
    const isMore = await applyPlan(plan, ref, endpoint, parts, memory);
    // Failed starts change what clients can expect.
    if (endpoint !== null) routes.expect(endpoint.resolved, outlookOf(plan, desired, memory));
    const after = await this.#observe(ref, memory);
    if (endpoint === null) {
      if (after.length > 0) return null;
      this.#known.delete(key);
      await parts.runners.forgetLog({ workspace: ref.workspace, endpoint: ref.name });
      return null;
    }
    await reportEvents(endpoint.record, before, after, parts, memory);
    if (endpoint.record.deletedAt !== null && after.length === 0) {
      await parts.runners.forgetLog({ workspace: ref.workspace, endpoint: ref.name });
      await parts.store.remove(ref, endpoint.record.uid);
      return null;
    }
    await reportStatus(endpoint.record, endpoint.resolved, after, unrouted, parts, memory);
    // A replica that is routed to from now on may have been reached already.
    if (isMore || (plan.isAwaitingGateway && plan.routed.some(({ serving }) => serving === null))) return 0;
    const reachAt = plan.isAwaitingGateway ? parts.timing.now() + REACH_MS : null;
    return this.#waitMs(
      [plan.wakeAt, reachAt, unrouted === null ? null : parts.timing.now() + ROUTES_RETRY_MS],
      memory,
    );
  }

  /**
   * A paused endpoint has no replicas to adopt: its routes follow from its record, and nothing else is left to do if its
   * status is that of this generation.
   */
  restore(record: ResourceRecord): StartNeeds {
    const spec = record.spec as EndpointSpec;
    const key = refKey(record);
    if (record.deletedAt !== null || spec.replicas > 0 || this.#known.has(key)) return 'now';
    const { routes } = this.#knownOf(key, record);
    const outlook: Outlook = { prospect: 'available', failedStart: null };
    if (problemIn(() => routes.put(record, [], withoutReplicas(record), outlook)) !== null) return 'later';
    // Its secrets are decrypted when it is reconciled: they are removed from logs of earlier replicas.
    if (Object.keys(spec.secret_env).length > 0) return 'later';
    return isPaused(record, this.#parts.urlOf(record.workspace, record.name)) ? 'nothing' : 'later';
  }

  /** Removes a replica that has ended, or that is not ready any more and not the last one, from the routes at once. */
  unroute({ endpoint, id, workspace }: Pick<ReplicaHandle, 'endpoint' | 'id' | 'workspace'>, hasEnded: boolean): void {
    this.#known.get(refKey({ kind: KIND, workspace, name: endpoint }))?.routes.unroute(id, hasEnded);
  }

  /**
   * Another replica takes the place of this one, which leaves as soon as enough others serve. Returns false if another process
   * reconciles the endpoint.
   */
  drain(ref: ResourceRef, id: string): boolean {
    const known = this.#known.get(refKey(ref));
    known?.memory.leaving.add(id);
    return known !== undefined;
  }

  /** Another host runs the endpoint from now on. */
  forget(ref: ResourceRef): void {
    this.#known.delete(refKey(ref));
  }

  /** Resources have been freed: returns the keys of endpoints whose replicas may fit now. */
  roomFreed(): string[] {
    const waiting = [...this.#known].filter(([, { memory }]) => memory.failedStart?.isTransient);
    for (const [, { memory }] of waiting) memory.failedStart = { ...memory.failedStart!, retryAt: 0 };
    return waiting.map(([key]) => key);
  }

  /** The replicas of an endpoint, from their runners, the gateway and the endpoint's memory. */
  async #observe({ name, workspace }: ResourceRef, memory: EndpointMemory): Promise<ObservedReplica[]> {
    const { draining, routes, runners, timing } = this.#parts;
    const ours = (await runners.list()).filter((one) => one.workspace === workspace && one.endpoint === name);
    const states = new Map(routes.states(workspace, name).map((one) => [one.id, one]));
    return ours.map((one) => ({
      ...one,
      isDraining: draining.has(one.id),
      isLeaving: memory.leaving.has(one.id),
      unreadySince: memory.unreadySince(one, timing.now()),
      restarts: memory.restarts.get(one.id) ?? 0,
      inFlight: states.get(one.id)?.inFlight ?? 0,
      serving: states.get(one.id)?.state ?? null,
    }));
  }

  #knownOf(key: string, record: ResourceRecord | null): KnownEndpoint {
    const known = this.#known.get(key);
    if (known !== undefined && (record === null || record.uid === known.uid)) return known;
    const made: KnownEndpoint = {
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
    if (failedStart !== null && failedStart.retryAt > now) times.push(failedStart.retryAt);
    return times.length === 0 ? null : Math.max(0, Math.min(...times) - now);
  }
}

/** Whether the status of a paused endpoint is what reconciling it would write. */
function isPaused({ generation, status }: ResourceRecord, url: string): boolean {
  const { download, message, observed_generation, phase, replicas, url: shown } = (status ?? {}) as Partial<Status>;
  const isIdle = phase === 'Paused' && message === '' && download === undefined;
  return isIdle && observed_generation === generation && shown === url && (replicas as unknown[])?.length === 0;
}

function outlookOf({ prospect }: EndpointPlan, { specHash }: DesiredEndpoint, memory: EndpointMemory): Outlook {
  return { prospect, failedStart: memory.failedStartOf(specHash) };
}

/** An error in the endpoint keeps it from its routes, and from nothing else. */
function problemIn(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.message;
  }
}
