import { createExplanation, resetExplanation } from '../../policy/explanation.js';
import type { DecisionLog, LogLine } from '../decisions/decision-log.js';
import type { Decision, DecisionRing } from '../decisions/decision-ring.js';
import { nestedTooDeeply } from '../errors.js';
import type { GatewayConfig, PolicyConfig } from '../gateway-config.js';
import { isTooDeep } from '../request/nesting.js';
import { PromptBlocks } from '../request/prompt-blocks.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import { DecidingFleet, type DecisionInput } from './deciding-fleet.js';
import { findRemovals, removal } from './eligibility.js';
import type { LiveReplica } from './live-replica.js';

export interface EndpointParts {
  /** Replaced when the gateway reloads. */
  config: Pick<GatewayConfig, 'seed' | 'signals' | 'slowStartMs'>;
  ring: DecisionRing;
  log: DecisionLog | null;
  /** The gateway's clock, microseconds from its start. */
  nowUs: () => number;
}

/** Where a request was sent: keep it until the request has ended, then `finish` it, once. */
export interface Placement {
  request: number;
  replica: LiveReplica;
  hasFirstToken: boolean;
  /** Not finished yet. */
  isOpen: boolean;
}

/** The replicas that serve one set of models under one policy, and every decision among them. */
export class Endpoint {
  readonly name: string;
  replicas: readonly LiveReplica[] = [];
  readonly #parts: EndpointParts;
  #log: DecisionLog | null;
  readonly #fleet: DecidingFleet;
  readonly #prompt = new PromptBlocks();
  #why = createExplanation(0);
  readonly #removed: (string | null)[] = [];
  /** Numbers of requests that have ended, to be used again. */
  readonly #freeNumbers: number[] = [];
  readonly #decision: Decision;
  #numbers = 0;
  #inFlight = 0;

  constructor(name: string, policy: PolicyConfig, parts: EndpointParts) {
    this.name = name;
    this.#parts = parts;
    this.#log = parts.log;
    this.#decision = {
      facts: { id: '', session: '', inputTokens: 0 },
      endpoint: name,
      atUs: 0,
      blockCount: 0,
      attempt: 0,
    };
    this.#fleet = new DecidingFleet(policy, parts.config.seed, parts.config.signals.staleMs);
    this.#logPolicy();
  }

  get policy(): PolicyConfig {
    return this.#fleet.config;
  }

  get policyHash(): string {
    return this.#fleet.policyHash;
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
    this.#log?.write({ type: 'replicas', endpoint: this.name, ids });
    this.#fleet.setReplicas(ids);
    this.#why = createExplanation(ids.length);
  }

  /** Another policy takes over; nothing in flight is lost, and no replica notices. */
  setPolicy(policy: PolicyConfig): void {
    this.#fleet.setPolicy(policy);
    this.#logPolicy();
  }

  /** The configuration has been read again: what replicas say may count for a longer or shorter time. */
  configure(): void {
    const { staleMs } = this.#parts.config.signals;
    if (staleMs === this.#fleet.signals.staleMs) return;
    this.#fleet.signals.staleMs = staleMs;
    this.#log?.write({ type: 'stale', endpoint: this.name, staleMs });
  }

  /** The endpoint is gone: its last requests end unrecorded, since another may have its name by then. */
  retire(): void {
    this.setReplicas([]);
    this.#log = null;
  }

  /** Whether a replica serves this model, well or not. */
  serves(model: string): boolean {
    for (let slot = 0; slot < this.replicas.length; slot++) if (this.replicas[slot]!.models.has(model)) return true;
    return false;
  }

  /** Whether there is another replica that could take a request now. */
  hasOther(model: string, tried: readonly LiveReplica[], last: LiveReplica): boolean {
    const nowMs = this.#parts.nowUs() / 1000;
    return this.replicas.some(
      (replica) => replica !== last && !tried.includes(replica) && removal(replica, model, nowMs) === null,
    );
  }

  report(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.signals = signals;
    // It may have left meanwhile, or another may have its name.
    if (!this.replicas.includes(replica)) return;
    this.#log?.write({ type: 'signals', endpoint: this.name, id: replica.id, signals });
    this.#fleet.signals.set(replica.id, signals);
  }

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
    const request = this.#freeNumbers.pop() ?? this.#numbers++;
    const why = this.#why;
    resetExplanation(why);
    const chosen = fleet.decide(request, input, why);
    if (this.#log !== null) this.#log.write(this.#logLine(request, facts.id, chosen, input));
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
    this.#inFlight++;
    const placement = { request, replica, hasFirstToken: false, isOpen: true };
    return placement;
  }

  /** How the last decision was made, in a few words. */
  get lastRule(): string {
    return this.#why.rule;
  }

  /** Why no replica could take the last request, each reason once. */
  get lastRemovals(): string {
    const reasons = new Set(this.#removed.filter((reason) => reason !== null));
    return reasons.size === 0 ? 'there are none' : [...reasons].join('; ');
  }

  firstToken(placement: Placement): void {
    if (placement.hasFirstToken) return;
    placement.hasFirstToken = true;
    this.#log?.write({ type: 'first', endpoint: this.name, request: placement.request });
    this.#fleet.firstToken(placement.request);
  }

  finish(placement: Placement): void {
    if (!placement.isOpen) return;
    placement.isOpen = false;
    const { request, replica } = placement;
    this.#log?.write({ type: 'done', endpoint: this.name, request });
    this.#fleet.finished(request);
    replica.breaker.released(request);
    this.#freeNumbers.push(request);
    replica.active--;
    this.#inFlight--;
  }

  #logPolicy(): void {
    const { seed } = this.#parts.config;
    const { config, policyHash: hash, signals } = this.#fleet;
    this.#log?.write({ type: 'policy', endpoint: this.name, hash, config, seed, staleMs: signals.staleMs });
  }

  #logLine(request: number, id: string, chosen: number, input: DecisionInput): LogLine {
    const fleet = this.#fleet;
    return {
      type: 'request',
      endpoint: this.name,
      policy: fleet.policyHash,
      request,
      id,
      replica: chosen < 0 ? null : fleet.view.ids[chosen]!,
      nowUs: input.nowUs,
      inputTokens: input.inputTokens,
      session: input.session,
      sloClass: input.sloClass,
      removed: input.removed,
      body: fleet.readsBody ? input.body : null,
      blocks: Array.from(input.blocks.subarray(0, input.blockCount)),
    };
  }

  #input(facts: RequestFacts, nowUs: number): DecisionInput {
    const fleet = this.#fleet;
    if (fleet.readsBody && isTooDeep(facts.body)) throw nestedTooDeeply();
    this.#prompt.read(facts, fleet.blockSize);
    facts.inputTokens = this.#prompt.tokens;
    return {
      nowUs,
      inputTokens: facts.inputTokens,
      session: facts.session,
      sloClass: facts.sloClass,
      body: facts.body,
      blocks: this.#prompt.blocks,
      blockCount: this.#prompt.blockCount,
      removed: this.#removed,
    };
  }
}
