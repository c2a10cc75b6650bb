import type { ApiError } from '../../../protocol/errors.js';
import type { PolicyConfig } from '../../config/gateway-config.js';
import { DecidingFleet } from '../../decisions/deciding-fleet.js';
import { EndpointLog } from '../../decisions/endpoint-log.js';
import { endpointGone, noReplica, replicasLimited } from '../../errors.js';
import { timerAlarms } from '../../flow/alarm.js';
import { FlowControl } from '../../flow/flow-control.js';
import { MeasuredPrompt } from '../../request/measured-prompt.js';
import { readLoadHeader, withLoad } from '../../signals/load-header.js';
import type { ReplicaSignals } from '../../signals/replica-signals.js';
import type { ManagedFacts } from '../managed-routes.js';
import type { LiveReplica } from '../replica/live-replica.js';
import { removal } from './eligibility.js';
import type { EndpointHost } from './endpoint-host.js';
import { FleetLook } from './fleet-look.js';
import { Placer } from './placer.js';
import { PolicyHistory, type PolicyVersion } from './policy-history.js';
import { type AwaitingReplica, ReadyLine } from './ready-line.js';
import { hasShares } from './request-shares.js';

/**
 * The replicas that serve one set of models under one policy: flow control before them, and the decisions among them.
 */
export class Endpoint {
  readonly name: string;
  replicas: readonly LiveReplica[] = [];
  /** Null for an endpoint of the configuration. */
  managed: ManagedFacts | null = null;
  /**
   * Of an endpoint whose replicas are found in a cluster: why those here may be out of date, and, while there is none, the models
   * of the last ones.
   */
  discovery: { problem: string | null; models: ReadonlySet<string> } | null = null;
  /** Admission and queue, before a replica is chosen. */
  readonly flow: FlowControl;
  readonly look: FleetLook;
  readonly placer: Placer;
  /** Of the request that was measured or placed last; valid until the next. */
  readonly prompt = new MeasuredPrompt();
  readonly #host: EndpointHost;
  /** Null where decisions are not logged. */
  readonly #log: EndpointLog | null;
  readonly #fleet: DecidingFleet;
  readonly #history: PolicyHistory;
  readonly #line = new ReadyLine();

  constructor(name: string, policy: PolicyConfig, host: EndpointHost) {
    const { config, nowUs } = host;
    this.name = name;
    this.#host = host;
    this.#log = host.log === null ? null : new EndpointLog(name, host.log);
    this.#fleet = new DecidingFleet(policy, config.seed, config.signals.staleMs);
    this.#fleet.suspicion.onChange = (slot, isSuspect, reason) => this.#trustChanged(slot, isSuspect, reason);
    this.configure();
    this.look = new FleetLook(this.#fleet, this.prompt, nowUs);
    const newAlarm = host.newAlarm ?? timerAlarms(nowUs);
    this.flow = new FlowControl(policy, this.look, this.#fleet.host, newAlarm);
    const { flow, prompt } = this;
    this.placer = new Placer({ endpoint: name, host, fleet: this.#fleet, prompt, flow, log: this.#log });
    this.#history = new PolicyHistory({ hash: this.policyHash, policy, sinceUs: nowUs() });
    this.#log?.policy(this.#fleet, config.seed, true);
  }

  get policy(): PolicyConfig {
    return this.#fleet.config;
  }

  get policyHash(): string {
    return this.#fleet.policyHash;
  }

  /** Tokens per block of the prompts its policy looks at. */
  get blockSize(): number {
    return this.#fleet.blockSize;
  }

  /** Requests on its replicas. */
  get inFlight(): number {
    return this.placer.inFlight;
  }

  /** Requests on a replica as the policy counts them. */
  inFlightOf(replica: LiveReplica): number {
    const slot = this.#fleet.slot(replica.id);
    return slot < 0 ? 0 : this.#fleet.view.inFlight[slot]!;
  }

  /** Why it is suspect: it takes requests and gives nothing back. Empty when it is trusted. */
  suspicionOf({ id }: Pick<LiveReplica, 'id'>): string {
    const slot = this.#fleet.slot(id);
    return slot < 0 ? '' : this.#fleet.suspicion.reasonOf(slot);
  }

  /** Finds replicas that take requests and give nothing back; called several times a second. */
  review(nowUs: number): void {
    const { suspicion } = this.#fleet;
    for (let slot = 0; slot < this.replicas.length; slot++) {
      const replica = this.replicas[slot]!;
      const isReady = removal(replica, null, nowUs / 1000) === null;
      suspicion.observe(slot, replica.heardUs, isReady ? replica.readySinceMs * 1000 : -1);
    }
    suspicion.review(nowUs);
  }

  /** Whether a replica serves this model, ready or not, or did so before all left, or the endpoint declares it. */
  serves(model: string): boolean {
    for (let slot = 0; slot < this.replicas.length; slot++) if (this.replicas[slot]!.models.has(model)) return true;
    if (this.discovery?.models.has(model)) return true;
    return this.managed?.models?.includes(model) === true;
  }

  /** Whether a replica that serves this model is ready. */
  isReadyFor(model: string): boolean {
    for (let slot = 0; slot < this.replicas.length; slot++) {
      const { models, state } = this.replicas[slot]!;
      if (state === 'ready' && models.has(model)) return true;
    }
    return false;
  }

  /** Whether a replica that has not been tried could take a request now. */
  hasOther(model: string, tried: readonly LiveReplica[], last: LiveReplica | null): boolean {
    const nowMs = this.#host.nowUs() / 1000;
    return this.replicas.some(
      (replica) => replica !== last && !tried.includes(replica) && removal(replica, model, nowMs) === null,
    );
  }

  /** The same for one that is not suspect. */
  hasTrusted(model: string, tried: readonly LiveReplica[], last: LiveReplica): boolean {
    const nowMs = this.#host.nowUs() / 1000;
    const { suspicion } = this.#fleet;
    return this.replicas.some(
      (replica, slot) =>
        replica !== last &&
        !tried.includes(replica) &&
        !suspicion.isSuspect(slot) &&
        removal(replica, model, nowMs) === null,
    );
  }

  // Requests that wait a moment for a replica.

  /** Whether a request may wait a moment when no replica is ready: one is probably starting. */
  get isAwaited(): boolean {
    const isExpected = this.managed === null ? this.discovery !== null : this.managed.isIdle !== true;
    return isExpected && this.#host.config.waitMs > 0;
  }

  /** Makes a request that no replica could take wait for one, if one is expected; returns whether it waits. */
  awaitReplica(request: AwaitingReplica): boolean {
    return this.isAwaited && this.#line.join(request, this.#host.config.waitMs);
  }

  stopAwaiting(request: AwaitingReplica): void {
    if (this.#line.size > 0) this.#line.leave(request);
  }

  /** For a request that could not be placed, the last one; 429 where a pause that a replica asked for is the reason. */
  noReplicaError(model: string): ApiError {
    const nowMs = this.#host.nowUs() / 1000;
    let pauseMs = Number.POSITIVE_INFINITY;
    for (const replica of this.replicas) {
      const { pausedUntilMs } = replica;
      if (pausedUntilMs <= nowMs || removal(replica, model, pausedUntilMs) !== null) continue;
      pauseMs = Math.min(pauseMs, pausedUntilMs - nowMs);
    }
    if (Number.isFinite(pauseMs)) return replicasLimited(model, Math.ceil(pauseMs / 1000));
    return noReplica(model, this.placer.lastRemovals || (this.managed?.waitsFor ?? 'there are none'));
  }

  // Changes of the fleet.

  /** Requests on replicas that leave go on; the policy forgets those replicas. */
  setReplicas(replicas: readonly LiveReplica[]): void {
    this.replicas = replicas;
    const ids = replicas.map(({ id }) => id);
    this.#log?.replicas(ids);
    this.#fleet.setReplicas(ids);
    this.#shareReplicas();
    this.fleetChanged();
  }

  /** Models, tiers or weights of its replicas may have changed. */
  replicasChanged(): void {
    this.#shareReplicas();
    this.fleetChanged();
  }

  /** A replica has become ready or unhealthy, has reported, or time has passed. */
  fleetChanged(): void {
    this.flow.fleetChanged();
    this.#wakeAwaiting();
  }

  /** Applies a report of a replica's metrics. */
  report(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.scraped = signals;
    this.#takeSignals(replica, signals);
  }

  /** Applies the load in a replica's response headers. Missing values come from its metrics while those are fresh. */
  reportLoad(replica: LiveReplica, header: string): void {
    const load = readLoadHeader(header);
    if (load === null) return;
    const nowUs = this.#host.nowUs();
    this.#takeSignals(replica, withLoad(replica.scraped, load, nowUs, nowUs - this.#fleet.signals.staleMs * 1000));
  }

  // Changes of the policy and the configuration.

  /** Replaces the policy; requests that wait or are in flight are kept, and no replica is touched. */
  setPolicy(policy: PolicyConfig): void {
    if (JSON.stringify(policy) === JSON.stringify(this.policy)) return;
    this.#takeOn(policy);
    this.#history.add({ hash: this.policyHash, policy, sinceUs: this.#host.nowUs() });
  }

  /** Rolls back to the previous policy; null when there is none. Another call goes one further back. */
  rollback(): PolicyVersion | null {
    const before = this.#history.back(this.#host.nowUs());
    if (before !== null) this.#takeOn(before.policy);
    return before;
  }

  /** The latest policies, the present one first. */
  history(): PolicyVersion[] {
    return this.#history.all();
  }

  /** The configuration has been read: signals and first bytes may take a longer or shorter time. */
  configure(): void {
    const { signals, timeouts } = this.#host.config;
    const { waits } = this.#fleet.suspicion;
    waits.floorUs = timeouts.firstByteFloorMs * 1000;
    waits.ceilingUs = timeouts.firstByteMs * 1000;
    const { staleMs } = signals;
    if (staleMs === this.#fleet.signals.staleMs) return;
    this.#fleet.signals.staleMs = staleMs;
    this.#log?.stale(staleMs);
  }

  /** Removes the endpoint. The ends of its last requests are not logged: another endpoint may have its name by then. */
  retire(): void {
    this.close(endpointGone(this.name), 'endpoint removed');
    this.setReplicas([]);
    this.#log?.end();
  }

  /** Refuses requests that have no replica yet, and all further ones. */
  close(error: ApiError, cause: string): void {
    this.flow.close(error, cause);
    this.#line.close(error, cause);
  }

  #takeOn(policy: PolicyConfig): void {
    this.#fleet.setPolicy(policy);
    this.placer.policyChanged();
    this.#log?.policy(this.#fleet, this.#host.config.seed, false);
    this.flow.configure(policy);
  }

  #takeSignals(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.signals = signals;
    replica.sentSinceReport = 0;
    // It may have left meanwhile, and another may have its id.
    if (!this.replicas.includes(replica)) return;
    this.#log?.signals(replica.id, signals);
    this.#fleet.signals.set(replica.id, signals);
    this.fleetChanged();
  }

  #trustChanged(slot: number, isSuspect: boolean, reason: string): void {
    const { id } = this.replicas[slot]!;
    const effect = 'other replicas get its requests, and single requests probe it';
    this.#host.warn(`replica ${id} of endpoint ${this.name} ${isSuspect ? `is ${reason}: ${effect}` : reason}`);
    this.fleetChanged();
  }

  #shareReplicas(): void {
    const { look, placer, replicas } = this;
    look.replicas = replicas;
    look.hasTiers = hasShares(replicas);
    placer.setReplicas(replicas, look.hasTiers);
  }

  #wakeAwaiting(): void {
    if (this.#line.size > 0) this.#line.changed(({ facts, tried }) => this.hasOther(facts.model, tried, null));
  }
}
