import type { ApiError } from '../../../protocol/errors.js';
import type { PolicyConfig } from '../../config/gateway-config.js';
import { DecisionWatch } from '../../decisions/decision-observer.js';
import { endpointGone, noReplica, replicasLimited } from '../../errors.js';
import type { FlowControl } from '../../flow/flow-control.js';
import { ReplicaProfiles } from '../../prediction/replica-profiles.js';
import type { MeasuredPrompt } from '../../request/measured-prompt.js';
import { readLoadHeader, withLoad } from '../../signals/load-header.js';
import type { ReplicaSignals } from '../../signals/replica-signals.js';
import type { ManagedFacts } from '../managed-routes.js';
import type { LiveReplica } from '../replica/live-replica.js';
import {
  configureDeciding,
  type Deciding,
  newDeciding,
  policyHashOf,
  reviewTrust,
  shareReplicas,
  takePolicy,
  trustLine,
} from './deciding.js';
import { hasOtherReplica, shortestPause } from './eligibility.js';
import type { EndpointHost } from './endpoint-host.js';
import type { FleetLook } from './fleet-look.js';
import type { Placer } from './placer.js';
import { PolicyHistory, type PolicyVersion } from './policy-history.js';
import { type AwaitingReplica, ReadyLine } from './ready-line.js';

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
  /** Names its policy: the same for policies that decide alike. */
  policyHash: string;
  /** Where shadow policies follow its decisions. */
  readonly watch: DecisionWatch;
  /** How fast each of its replicas is, as far as that is known. */
  readonly profiles = new ReplicaProfiles();
  readonly #host: EndpointHost;
  readonly #history: PolicyHistory;
  readonly #line = new ReadyLine();
  #policy: PolicyConfig;
  /** Null until a replica or a request needs it, and while it is idle: it has room for every replica there may be. */
  #deciding: Deciding | null = null;
  #closed: { readonly error: ApiError; readonly cause: string } | null = null;

  constructor(name: string, policy: PolicyConfig, host: EndpointHost) {
    this.name = name;
    this.#host = host;
    this.watch = new DecisionWatch(host.ring);
    this.#policy = policy;
    this.policyHash = policyHashOf(policy);
    this.#history = new PolicyHistory({ hash: this.policyHash, policy, sinceUs: host.nowUs() });
    host.shadows?.changed(this);
  }

  get policy(): PolicyConfig {
    return this.#policy;
  }

  /** Admission and queue, before a replica is chosen. */
  get flow(): FlowControl {
    return this.#decide().flow;
  }

  /** Null while nothing has needed it. */
  get usedFlow(): FlowControl | null {
    return this.#deciding?.flow ?? null;
  }

  get look(): FleetLook {
    return this.#decide().look;
  }

  get placer(): Placer {
    return this.#decide().placer;
  }

  /** Of the request that was measured or placed last; valid until the next. */
  get prompt(): MeasuredPrompt {
    return this.#decide().prompt;
  }

  /** Tokens per block of the prompts its policy looks at. */
  get blockSize(): number {
    return this.#decide().fleet.blockSize;
  }

  /** Requests on its replicas. */
  get inFlight(): number {
    return this.#deciding?.placer.inFlight ?? 0;
  }

  /** Requests on a replica as the policy counts them. */
  inFlightOf(replica: LiveReplica): number {
    const fleet = this.#deciding?.fleet;
    return fleet?.view.inFlight[fleet.slot(replica.id)] ?? 0;
  }

  /** Why it is suspect: it takes requests and gives nothing back. Empty when it is trusted. */
  suspicionOf({ id }: Pick<LiveReplica, 'id'>): string {
    const fleet = this.#deciding?.fleet;
    const slot = fleet?.slot(id) ?? -1;
    return slot < 0 ? '' : fleet!.suspicion.reasonOf(slot);
  }

  /** Finds replicas that take requests and give nothing back; called several times a second. */
  review(nowUs: number): void {
    if (this.#deciding !== null) reviewTrust(this.#deciding, this.replicas, nowUs);
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
    return hasOtherReplica(this.replicas, model, tried, last, this.#host.nowUs() / 1000);
  }

  /** The same for one that is not suspect. */
  hasTrusted(model: string, tried: readonly LiveReplica[], last: LiveReplica): boolean {
    const isSuspect = (slot: number) => this.#deciding?.fleet.suspicion.isSuspect(slot) === true;
    return hasOtherReplica(this.replicas, model, tried, last, this.#host.nowUs() / 1000, isSuspect);
  }

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
    const pauseMs = shortestPause(this.replicas, model, nowMs);
    if (Number.isFinite(pauseMs)) return replicasLimited(model, Math.ceil(pauseMs / 1000));
    return noReplica(model, this.#deciding?.placer.lastRemovals || (this.managed?.waitsFor ?? 'there are none'));
  }

  /** Requests on replicas that leave go on; the policy forgets those replicas. */
  setReplicas(replicas: readonly LiveReplica[]): void {
    this.replicas = replicas;
    if (replicas.length === 0 && this.#park()) return;
    const deciding = this.#decide();
    const ids = replicas.map(({ id }) => id);
    deciding.log?.replicas(ids);
    deciding.fleet.setReplicas(ids);
    shareReplicas(deciding, replicas);
    this.fleetChanged();
  }

  /** Models, tiers or weights of its replicas may have changed. */
  replicasChanged(): void {
    if (this.replicas.length === 0 && this.#park()) return;
    shareReplicas(this.#decide(), this.replicas);
    this.fleetChanged();
  }

  /** A replica has become ready or unhealthy, has reported, or time has passed. */
  fleetChanged(): void {
    this.#deciding?.flow.fleetChanged();
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
    this.#takeSignals(
      replica,
      withLoad(replica.scraped, load, nowUs, nowUs - this.#decide().fleet.signals.staleMs * 1000),
    );
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
    if (this.#deciding !== null) configureDeciding(this.#deciding, this.#host.config);
  }

  /** Removes the endpoint. The ends of its last requests are not logged: another endpoint may have its name by then. */
  retire(): void {
    this.close(endpointGone(this.name), 'endpoint removed');
    this.setReplicas([]);
    this.#deciding?.log?.end();
    this.#host.shadows?.removed(this);
  }

  /** Refuses requests that have no replica yet, and all further ones. */
  close(error: ApiError, cause: string): void {
    this.#closed = { error, cause };
    this.#deciding?.flow.close(error, cause);
    this.#line.close(error, cause);
  }

  #takeOn(policy: PolicyConfig): void {
    // An invalid one throws before anything has changed.
    this.policyHash = policyHashOf(policy);
    this.#policy = policy;
    if (this.#deciding !== null) takePolicy(this.#deciding, policy, this.#host.config.seed);
    this.#host.shadows?.changed(this);
  }

  #decide(): Deciding {
    if (this.#deciding !== null) return this.#deciding;
    this.#deciding = newDeciding(this.name, this.#policy, this.#host, this.profiles, this.watch);
    this.#deciding.fleet.suspicion.onChange = (slot, isSuspect, reason) => this.#trustChanged(slot, isSuspect, reason);
    this.configure();
    if (this.#closed !== null) this.#deciding.flow.close(this.#closed.error, this.#closed.cause);
    return this.#deciding;
  }

  /** Gives up what only decisions need, if no request needs it; returns whether there is nothing. */
  #park(): boolean {
    const isUsed = this.inFlight > 0 || (this.usedFlow?.waiting ?? 0) > 0 || this.managed?.isIdle !== true;
    if (this.#deciding === null || isUsed) return this.#deciding === null;
    this.#deciding.log?.replicas([]);
    this.#deciding = null;
    return true;
  }

  #takeSignals(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.signals = signals;
    replica.sentSinceReport = 0;
    // It may have left meanwhile, and another may have its id.
    if (!this.replicas.includes(replica)) return;
    this.#decide().log?.signals(replica.id, signals);
    this.#decide().fleet.signals.set(replica.id, signals);
    this.fleetChanged();
  }

  #trustChanged(slot: number, isSuspect: boolean, reason: string): void {
    this.#host.warn(trustLine(this.replicas[slot]!.id, this.name, isSuspect, reason));
    this.fleetChanged();
  }

  #wakeAwaiting(): void {
    if (this.#line.size > 0) this.#line.changed(({ facts, tried }) => this.hasOther(facts.model, tried, null));
  }
}
