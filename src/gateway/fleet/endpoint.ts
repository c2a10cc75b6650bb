import type { FleetView } from '../../policy/fleet-view.js';
import type { ApiError } from '../../protocol/errors.js';
import type { PolicyConfig } from '../config/gateway-config.js';
import { EndpointLog } from '../decisions/endpoint-log.js';
import { endpointGone } from '../errors.js';
import { timerAlarms } from '../flow/alarm.js';
import { FlowControl } from '../flow/flow-control.js';
import type { FlowHost } from '../flow/flow-host.js';
import type { RequestFacts } from '../request/request-facts.js';
import { readLoadHeader, withLoad } from '../signals/load-header.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import { DecidingFleet } from './deciding-fleet.js';
import { EndpointMembers } from './endpoint-members.js';
import type { EndpointParts } from './endpoint-parts.js';
import { FleetLook } from './fleet-look.js';
import type { LiveReplica } from './live-replica.js';
import type { MeasuredPrompt } from './measured-prompt.js';
import { type Placement, Placements } from './placements.js';
import { PolicyHistory, type PolicyVersion } from './policy-history.js';
import { ReplicaChoice } from './replica-choice.js';
import { hasShares } from './request-shares.js';

export type { Placement } from './placements.js';

/** The replicas that serve one set of models under one policy, and every decision among them. */
export class Endpoint extends EndpointMembers implements FlowHost {
  readonly name: string;
  /** What requests pass before a replica is chosen for them. */
  readonly flow: FlowControl;
  readonly #log: EndpointLog;
  readonly #fleet: DecidingFleet;
  readonly #look: FleetLook;
  readonly #history: PolicyHistory;
  readonly #choice: ReplicaChoice;
  readonly #placements: Placements;

  constructor(name: string, policy: PolicyConfig, parts: EndpointParts) {
    super(parts);
    this.name = name;
    this.#log = new EndpointLog(name, parts.log);
    const { seed, signals } = parts.config;
    this.#fleet = new DecidingFleet(policy, seed, signals.staleMs);
    this.#look = new FleetLook(this.#fleet);
    this.#choice = new ReplicaChoice(name, parts, this.#fleet, this.#log);
    this.#placements = new Placements(this.#fleet, this.#log);
    this.#history = new PolicyHistory({ hash: this.policyHash, policy, sinceUs: parts.nowUs() });
    const newAlarm = parts.newAlarm ?? timerAlarms(parts.nowUs);
    this.flow = new FlowControl(policy, this, this.#fleet.host, newAlarm);
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

  /** Of the request that was measured or placed last; good until the next. */
  get prompt(): MeasuredPrompt {
    return this.#choice.prompt;
  }

  /** Requests that are placed and have not ended. */
  get inFlight(): number {
    return this.#placements.inFlight;
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
    this.#choice.resize(ids.length);
    this.#noteShares();
    this.flow.fleetChanged();
    this.wakeAwaiting();
  }

  /** Models, tiers or weights of its replicas may have changed. */
  replicasChanged(): void {
    this.#noteShares();
    this.fleetChanged();
  }

  #noteShares(): void {
    this.#look.hasTiers = hasShares(this.replicas);
    this.#choice.share(this.#look.hasTiers);
  }

  /** A replica has become ready or ill, or time has passed. */
  fleetChanged(): void {
    this.flow.fleetChanged();
    this.wakeAwaiting();
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
    this.#log.policy(this.#fleet, this.parts.config.seed, false);
    this.flow.configure(policy);
  }

  /** The configuration has been read again: what replicas say may count for a longer or shorter time. */
  configure(): void {
    const { staleMs } = this.parts.config.signals;
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
    this.turnOutAwaiting(error, cause);
  }

  /** A replica's metrics have told how it is. */
  report(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.scraped = signals;
    this.#hear(replica, signals);
  }

  /** A replica has told its load beside a response. What it does not say there is taken from its metrics while they are fresh. */
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
    return this.parts.nowUs();
  }

  tokensOf(facts: RequestFacts): number {
    this.prompt.measure(facts, this.#fleet.blockSize);
    return facts.inputTokens;
  }

  lookFor(model: string, nowUs: number): void {
    this.#look.at(nowUs, this.replicas, model);
  }

  saturationView(nowUs: number): FleetView {
    return this.#look.saturationAt(nowUs, this.replicas);
  }

  // What happens to requests.

  /**
   * Decides where a request goes and books it there; null when no replica may take it, and why each may not.
   * @param tried replicas that had their chance
   */
  place(facts: RequestFacts, attempt: number, tried: readonly LiveReplica[]): Placement | null {
    const placements = this.#placements;
    const chosen = this.#choice.choose(placements.nextNumber, facts, attempt, tried, this.replicas);
    if (chosen < 0) return null;
    return placements.open(this.replicas[chosen]!, attempt);
  }

  /** How the last decision was made, in a few words. */
  get lastRule(): string {
    return this.#choice.lastRule;
  }

  /** Why no replica could take the last request, each reason once. */
  get lastRemovals(): string {
    return this.#choice.lastRemovals || (this.managed?.waitsFor ?? 'there are none');
  }

  firstToken(placement: Placement): void {
    this.#placements.firstToken(placement);
  }

  /**
   * The replica failed the request, which is told before it is finished.
   * @param answered it answered, with 5xx; else it broke off or took too long, for which nobody else is to blame
   */
  failed(placement: Placement, facts: RequestFacts, answered: boolean): void {
    this.#placements.failed(placement, facts, answered, this.nowUs() / 1000);
  }

  /** The replica answered the request, well or not, as it should. */
  succeeded(placement: Placement, facts: RequestFacts): void {
    this.#placements.succeeded(placement, facts);
  }

  finish(placement: Placement): void {
    if (!placement.isOpen) return;
    this.#placements.close(placement);
    this.flow.departed();
  }
}
