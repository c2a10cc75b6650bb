import { type RandomStream, randomStream } from '../../kernel/random-stream.js';
import { createExplanation, resetExplanation } from '../../policy/explanation.js';
import type { FleetView } from '../../policy/fleet-view.js';
import type { ApiError } from '../../protocol/errors.js';
import type { DecisionLog } from '../decisions/decision-log.js';
import type { Decision, DecisionRing } from '../decisions/decision-ring.js';
import { EndpointLog } from '../decisions/endpoint-log.js';
import { endpointGone, nestedTooDeeply } from '../errors.js';
import { type NewAlarm, timerAlarms } from '../flow/alarm.js';
import { FlowControl, type FlowHost } from '../flow/flow-control.js';
import { type FleetLoad, LiveGate } from '../flow/live-gate.js';
import type { GatewayConfig, PolicyConfig } from '../gateway-config.js';
import { isTooDeep } from '../request/nesting.js';
import type { RequestFacts } from '../request/request-facts.js';
import { readLoadHeader, withLoad } from '../signals/load-header.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import { DecidingFleet, type DecisionInput, MOST_REPLICAS } from './deciding-fleet.js';
import { findRemovals, removal } from './eligibility.js';
import { FleetLook } from './fleet-look.js';
import type { LiveReplica } from './live-replica.js';
import type { ManagedEndpoint } from './managed-routes.js';
import { MeasuredPrompt } from './measured-prompt.js';
import { PolicyHistory, type PolicyVersion } from './policy-history.js';
import { type Hoping, ReadyLine } from './ready-line.js';
import { applyShares, hasShares } from './request-shares.js';
import { Suspects } from './suspects.js';

export interface EndpointParts {
  /** Replaced when the gateway reloads. */
  config: Pick<GatewayConfig, 'seed' | 'signals' | 'slowStartMs' | 'waitMs'>;
  ring: DecisionRing;
  log: DecisionLog | null;
  /** The gateway's clock, microseconds from its start. */
  nowUs: () => number;
  /** By the clock on the wall unless told otherwise. */
  newAlarm?: NewAlarm;
}

/** What is told of an endpoint that somebody keeps, besides its policy and its replicas. */
export type ManagedFacts = Omit<ManagedEndpoint, 'policy' | 'replicas'>;

/** Where a request was sent: keep it until the request has ended, then `finish` it, once. */
export interface Placement {
  request: number;
  replica: LiveReplica;
  /** Replicas that were tried before. */
  attempt: number;
  hasFirstToken: boolean;
  /** Not finished yet. */
  isOpen: boolean;
}

/** The replicas that serve one set of models under one policy, and every decision among them. */
export class Endpoint implements FlowHost {
  readonly name: string;
  /** What requests pass before a replica is chosen for them. */
  readonly flow: FlowControl;
  /** Of the request that was measured or placed last; good until the next. */
  readonly prompt = new MeasuredPrompt();
  replicas: readonly LiveReplica[] = [];
  /** Null for an endpoint of the configuration. */
  managed: ManagedFacts | null = null;
  readonly #parts: EndpointParts;
  readonly #log: EndpointLog;
  readonly #fleet: DecidingFleet;
  readonly #look: FleetLook;
  readonly #history: PolicyHistory;
  readonly #suspects = new Suspects();
  readonly #line = new ReadyLine();
  /** Draws where weights say how much each is asked; null where nothing tells replicas apart. */
  #shares: RandomStream | null = null;
  #why = createExplanation(0);
  readonly #removed: (string | null)[] = [];
  /** Numbers of requests that have ended, to be used again. */
  readonly #freeNumbers: number[] = [];
  readonly #decision: Decision;
  /** By number: whose request it is, while it is on a replica. */
  readonly #tenants: string[] = [];
  #numbers = 0;
  #inFlight = 0;

  constructor(name: string, policy: PolicyConfig, parts: EndpointParts) {
    this.name = name;
    this.#parts = parts;
    this.#log = new EndpointLog(name, parts.log);
    this.#decision = {
      facts: { id: '', session: '', inputTokens: 0 },
      endpoint: name,
      atUs: 0,
      blockCount: 0,
      attempt: 0,
    };
    const { seed, signals } = parts.config;
    this.#fleet = new DecidingFleet(policy, seed, signals.staleMs);
    this.#look = new FleetLook(this.#fleet);
    this.#history = new PolicyHistory({ hash: this.policyHash, policy, sinceUs: parts.nowUs() });
    const newAlarm = parts.newAlarm ?? timerAlarms(parts.nowUs);
    this.flow = new FlowControl(policy, this, new LiveGate(seed, MOST_REPLICAS), newAlarm);
    this.#log.policy(this.#fleet, seed, true);
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

  /** Requests that are placed and have not ended. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** What the policy's books say is in flight, by replica. */
  inFlightOf(replica: LiveReplica): number {
    const slot = this.#fleet.slot(replica.id);
    return slot < 0 ? 0 : this.#fleet.view.inFlight[slot]!;
  }

  /** Replicas join or leave. Requests on those that leave go on; the policy forgets them. */
  setReplicas(replicas: readonly LiveReplica[]): void {
    this.replicas = replicas;
    const ids = replicas.map(({ id }) => id);
    this.#log.replicas(ids);
    this.#fleet.setReplicas(ids);
    this.#why = createExplanation(ids.length);
    this.#noteShares();
    this.flow.recount(this.policy, this.#load());
    this.#wake();
  }

  /** Models, tiers or weights of its replicas may have changed. */
  replicasChanged(): void {
    this.#noteShares();
    this.fleetChanged();
  }

  #noteShares(): void {
    this.#look.hasTiers = hasShares(this.replicas);
    if (!this.#look.hasTiers) this.#shares = null;
    else this.#shares ??= randomStream(this.#parts.config.seed, `weights/${this.name}`);
  }

  /** Another policy takes over; nothing that waits or is in flight is lost, and no replica notices. */
  setPolicy(policy: PolicyConfig): void {
    if (JSON.stringify(policy) === JSON.stringify(this.policy)) return;
    this.#takeOn(policy);
    this.#history.add({ hash: this.policyHash, policy, sinceUs: this.nowUs() });
  }

  /** The policy before the present one takes over again: which, or null when there was none. Again: the one before that. */
  rollback(): PolicyVersion | null {
    const before = this.#history.back(this.nowUs());
    if (before !== null) this.#takeOn(before.policy);
    return before;
  }

  /** The policies so far, newest first, beginning with the one that holds. Only so many are remembered. */
  history(): PolicyVersion[] {
    return this.#history.all();
  }

  #takeOn(policy: PolicyConfig): void {
    this.#fleet.setPolicy(policy);
    this.#log.policy(this.#fleet, this.#parts.config.seed, false);
    this.flow.configure(policy, this.#load());
  }

  /** The configuration has been read again: what replicas say may count for a longer or shorter time. */
  configure(): void {
    const { staleMs } = this.#parts.config.signals;
    if (staleMs === this.#fleet.signals.staleMs) return;
    this.#fleet.signals.staleMs = staleMs;
    this.#log.stale(staleMs);
  }

  /** The endpoint is gone: its last requests end unrecorded, since another may have its name by then. */
  retire(): void {
    this.close(endpointGone(this.name), 'endpoint removed');
    this.setReplicas([]);
    this.#log.end();
  }

  /** Requests that have no replica yet, and those still to come, are told this. */
  close(error: ApiError, cause: string): void {
    this.flow.close(error, cause);
    this.#line.close(error, cause);
  }

  /** A replica has become ready or ill, or time has passed. */
  fleetChanged(): void {
    this.flow.fleetChanged();
    this.#wake();
  }

  /** Whether a replica serves this model, well or not, or is to. */
  serves(model: string): boolean {
    for (let slot = 0; slot < this.replicas.length; slot++) if (this.replicas[slot]!.models.has(model)) return true;
    return this.managed?.models?.includes(model) === true;
  }

  /** Whether a replica that serves this model is well. */
  isReadyFor(model: string): boolean {
    for (let slot = 0; slot < this.replicas.length; slot++) {
      const { models, state } = this.replicas[slot]!;
      if (state === 'ready' && models.has(model)) return true;
    }
    return false;
  }

  /** Whether it is worth a moment's wait when no replica is ready. */
  get isAwaited(): boolean {
    return this.managed !== null && this.managed.isIdle !== true && this.#parts.config.waitMs > 0;
  }

  /** A request that no replica could take waits for one, if that is worth it; returns whether it does. */
  awaitReplica(one: Hoping): boolean {
    return this.isAwaited && this.#line.join(one, this.#parts.config.waitMs);
  }

  /** It does not wait any more. */
  stopAwaiting(one: Hoping): void {
    if (this.#line.size > 0) this.#line.leave(one);
  }

  #wake(): void {
    if (this.#line.size === 0) return;
    const nowMs = this.nowUs() / 1000;
    this.#line.changed(({ facts, tried }) =>
      this.replicas.some((replica) => !tried.includes(replica) && removal(replica, facts.model, nowMs) === null),
    );
  }

  /** Whether there is another replica that could take a request now. */
  hasOther(model: string, tried: readonly LiveReplica[], last: LiveReplica): boolean {
    const nowMs = this.#parts.nowUs() / 1000;
    return this.replicas.some(
      (replica) => replica !== last && !tried.includes(replica) && removal(replica, model, nowMs) === null,
    );
  }

  /** A replica's metrics have told how it is. */
  report(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.scraped = signals;
    this.#hear(replica, signals);
  }

  /** A replica has told its load beside an answer. What it does not say there is taken from its metrics while they are fresh. */
  reportLoad(replica: LiveReplica, header: string): void {
    const load = readLoadHeader(header);
    if (load === null) return;
    const nowUs = this.nowUs();
    this.#hear(replica, withLoad(replica.scraped, load, nowUs, nowUs - this.#fleet.signals.staleMs * 1000));
  }

  #hear(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.signals = signals;
    replica.sentSinceReport = 0;
    // It may have left meanwhile, or another may have its name.
    if (!this.replicas.includes(replica)) return;
    this.#log.signals(replica.id, signals);
    this.#fleet.signals.set(replica.id, signals);
    this.fleetChanged();
  }

  // What flow control asks.

  nowUs(): number {
    return this.#parts.nowUs();
  }

  tokensOf(facts: RequestFacts): number {
    this.prompt.measure(facts, this.#fleet.blockSize);
    return facts.inputTokens;
  }

  viewFor(model: string, nowUs: number): FleetView {
    return this.#look.at(nowUs, this.replicas, model);
  }

  saturationView(nowUs: number): FleetView {
    return this.#look.saturationAt(nowUs, this.replicas);
  }

  #load(): FleetLoad {
    return { replicas: this.replicas.length, tenants: this.#tenants };
  }

  // What happens to requests.

  /**
   * Decides where a request goes and books it there; null when no replica may take it, and why each may not.
   * @param tried replicas that had their chance
   */
  place(facts: RequestFacts, attempt: number, tried: readonly LiveReplica[]): Placement | null {
    const { nowUs, ring } = this.#parts;
    const at = nowUs();
    const fleet = this.#fleet;
    const input = this.#input(facts, at);
    const { slowStartMs } = this.#parts.config;
    findRemovals(this.replicas, facts.model, at / 1000, tried, fleet.view.inFlight, slowStartMs, this.#removed);
    if (this.#shares !== null) applyShares(this.replicas, this.#removed, this.#shares);
    const request = this.#freeNumbers.pop() ?? this.#numbers++;
    const why = this.#why;
    resetExplanation(why);
    const chosen = fleet.decide(request, input, why);
    this.#log.request(request, facts.id, chosen, input, fleet);
    const decision = this.#decision;
    decision.facts = facts;
    decision.atUs = at;
    decision.blockCount = input.blockCount;
    decision.attempt = attempt;
    ring.add(decision, fleet, chosen, why);
    if (chosen < 0) {
      this.#freeNumbers.push(request);
      return null;
    }
    const replica = this.replicas[chosen]!;
    replica.breaker.placed(request);
    replica.active++;
    replica.sentSinceReport++;
    this.#inFlight++;
    this.#tenants[request] = facts.tenant;
    this.flow.placed(facts.tenant);
    return { request, replica, attempt, hasFirstToken: false, isOpen: true };
  }

  /** How the last decision was made, in a few words. */
  get lastRule(): string {
    return this.#why.rule;
  }

  /** Why no replica could take the last request, each reason once. */
  get lastRemovals(): string {
    const reasons = new Set(this.#removed.filter((reason) => reason !== null));
    return reasons.size === 0 ? (this.managed?.waitsFor ?? 'there are none') : [...reasons].join('; ');
  }

  firstToken(placement: Placement): void {
    if (placement.hasFirstToken) return;
    placement.hasFirstToken = true;
    this.#log.firstToken(placement.request);
    this.#fleet.firstToken(placement.request);
  }

  /**
   * The replica failed the request, which is told before it is finished.
   * @param answered it answered, with 5xx; else it broke off or took too long, for which nobody else is to blame
   */
  failed({ replica, request }: Placement, { body }: RequestFacts, answered: boolean): void {
    const nowMs = this.nowUs() / 1000;
    if (answered && !this.#suspects.blames(body, replica.id, nowMs)) return;
    replica.breaker.failed(request, nowMs);
  }

  /** The replica answered the request, well or not, as it should. */
  succeeded({ attempt, replica, request }: Placement, { body }: RequestFacts): void {
    replica.breaker.succeeded(request);
    if (attempt > 0 && this.#suspects.size > 0) this.#suspects.clear(body);
  }

  finish(placement: Placement): void {
    if (!placement.isOpen) return;
    placement.isOpen = false;
    const { request, replica } = placement;
    const tenant = this.#tenants[request]!;
    this.#log.done(request);
    this.#fleet.finished(request);
    replica.breaker.released(request);
    this.#freeNumbers.push(request);
    this.#inFlight--;
    this.#tenants[request] = '';
    replica.finished();
    this.flow.departed(tenant);
  }

  #input(facts: RequestFacts, nowUs: number): DecisionInput {
    if (this.#fleet.readsBody && isTooDeep(facts.body)) throw nestedTooDeeply();
    const { prompt } = this;
    prompt.measure(facts, this.#fleet.blockSize);
    prompt.release();
    return {
      nowUs,
      inputTokens: facts.inputTokens,
      session: facts.session,
      sloClass: facts.sloClass,
      tenant: facts.tenant,
      body: facts.body,
      blocks: prompt.blocks,
      blockCount: prompt.blockCount,
      removed: this.#removed,
    };
  }
}
