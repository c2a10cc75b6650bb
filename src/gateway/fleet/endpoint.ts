import { createExplanation, resetExplanation } from '../../policy/explanation.js';
import { ApiError } from '../../protocol/errors.js';
import { PromptBytes } from '../../protocol/prompt-bytes.js';
import { TOKEN_BYTES, tokensOfBytes } from '../../protocol/token-estimate.js';
import { writePrompt } from '../../protocol/write-prompt.js';
import type { DecisionLog, LogLine } from '../decisions/decision-log.js';
import type { DecisionRing } from '../decisions/decision-ring.js';
import type { GatewayConfig, PolicyConfig } from '../gateway-config.js';
import { BlockChain } from '../request/block-chain.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import { DecidingFleet, type DecisionInput } from './deciding-fleet.js';
import { isWarmingUp, removal } from './eligibility.js';
import type { LiveReplica } from './live-replica.js';

export interface EndpointParts {
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
}

/** The replicas that serve one set of models under one policy, and every decision among them. */
export class Endpoint {
  readonly name: string;
  replicas: readonly LiveReplica[] = [];
  readonly #parts: EndpointParts;
  readonly #fleet: DecidingFleet;
  readonly #prompt = new PromptBytes();
  readonly #chain = new BlockChain();
  #why = createExplanation(0);
  readonly #removed: (string | null)[] = [];
  /** Numbers of requests that have ended, to be used again. */
  readonly #freeNumbers: number[] = [];
  #numbers = 0;
  #inFlight = 0;
  readonly #placed = new Map<number, Placement>();

  constructor(name: string, policy: PolicyConfig, parts: EndpointParts) {
    this.name = name;
    this.#parts = parts;
    this.#fleet = new DecidingFleet(policy, parts.config.seed, parts.config.signals.staleMs);
    this.#logPolicy();
  }

  get policy(): PolicyConfig {
    return this.#fleet.config;
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
    this.#parts.log?.write({ type: 'replicas', endpoint: this.name, ids });
    this.#fleet.setReplicas(ids);
    this.#why = createExplanation(ids.length);
  }

  /** Another policy takes over; nothing in flight is lost, and no replica notices. */
  setPolicy(policy: PolicyConfig): void {
    this.#fleet.setPolicy(policy);
    this.#logPolicy();
  }

  report(replica: LiveReplica, signals: ReplicaSignals): void {
    replica.signals = signals;
    if (this.#fleet.slot(replica.id) < 0) return;
    this.#parts.log?.write({ type: 'signals', endpoint: this.name, id: replica.id, signals });
    this.#fleet.setSignals(replica.id, signals);
  }

  /**
   * Decides where a request goes and books it there; null when no replica may take it, and why each may not.
   * @param tried replicas that had their chance
   */
  place(facts: RequestFacts, attempt: number, tried: readonly LiveReplica[]): Placement | null {
    const { log, nowUs, ring } = this.#parts;
    const at = nowUs();
    const fleet = this.#fleet;
    const input = this.#input(facts, at);
    this.#remove(facts.model, at / 1000, tried);
    const request = this.#freeNumbers.pop() ?? this.#numbers++;
    const why = this.#why;
    resetExplanation(why);
    const chosen = fleet.decide(request, input, why);
    if (log !== null) log.write(this.#logLine(request, facts.id, chosen, input));
    const { id, inputTokens, session } = facts;
    const { blockCount } = input;
    ring.add({ id, endpoint: this.name, atUs: at, inputTokens, session, blockCount, attempt }, fleet, chosen, why);
    if (chosen < 0) {
      this.#freeNumbers.push(request);
      return null;
    }
    const replica = this.replicas[chosen]!;
    replica.breaker.placed();
    replica.active++;
    this.#inFlight++;
    const placement = { request, replica, hasFirstToken: false };
    this.#placed.set(request, placement);
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
    this.#parts.log?.write({ type: 'first', endpoint: this.name, request: placement.request });
    this.#fleet.firstToken(placement.request);
  }

  finish({ request, replica }: Placement): void {
    if (!this.#placed.delete(request)) return;
    this.#parts.log?.write({ type: 'done', endpoint: this.name, request });
    this.#fleet.finished(request);
    this.#freeNumbers.push(request);
    replica.active--;
    this.#inFlight--;
  }

  #logPolicy(): void {
    const { config, log } = this.#parts;
    const { seed, signals } = config;
    log?.write({ type: 'policy', endpoint: this.name, config: this.policy, seed, staleMs: signals.staleMs });
  }

  #logLine(request: number, id: string, chosen: number, input: DecisionInput): LogLine {
    const { body, blocks, blockCount, ...rest } = input;
    return {
      type: 'request',
      endpoint: this.name,
      request,
      id,
      replica: chosen < 0 ? null : this.#fleet.view.ids[chosen]!,
      ...rest,
      body: this.#fleet.readsBody ? body : null,
      blocks: Array.from(blocks.subarray(0, blockCount)),
    };
  }

  #input(facts: RequestFacts, nowUs: number): DecisionInput {
    const fleet = this.#fleet;
    const { bytes, length } = this.#readPrompt(facts);
    facts.inputTokens = tokensOfBytes(length);
    this.#chain.start(chainSeed(facts));
    this.#chain.addBlocks(bytes, length, fleet.blockSize * TOKEN_BYTES);
    return {
      nowUs,
      inputTokens: facts.inputTokens,
      session: facts.session,
      sloClass: facts.sloClass,
      body: facts.body,
      blocks: this.#chain.ids,
      blockCount: this.#chain.count,
      removed: this.#removed,
    };
  }

  /** What is malformed is the replica's to judge: to the policy it is a prompt of nothing. */
  #readPrompt({ body, kind }: RequestFacts): PromptBytes {
    const prompt = this.#prompt;
    prompt.clear();
    try {
      writePrompt(kind, body, prompt);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      prompt.clear();
    }
    return prompt;
  }

  #remove(model: string, nowMs: number, tried: readonly LiveReplica[]): void {
    const removed = this.#removed;
    const { view } = this.#fleet;
    removed.length = this.replicas.length;
    let ready = 0;
    let inFlight = 0;
    for (let slot = 0; slot < this.replicas.length; slot++) {
      const replica = this.replicas[slot]!;
      removed[slot] = tried.includes(replica) ? 'tried before' : removal(replica, model, nowMs);
      if (removed[slot] !== null) continue;
      ready++;
      inFlight += view.inFlight[slot]!;
    }
    if (ready < 2) return;
    const { slowStartMs } = this.#parts.config;
    let left = ready;
    for (let slot = 0; slot < this.replicas.length && left > 1; slot++) {
      if (removed[slot] !== null) continue;
      const mean = (inFlight - view.inFlight[slot]!) / (ready - 1);
      if (!isWarmingUp(this.replicas[slot]!, view.inFlight[slot]!, mean, nowMs, slowStartMs)) continue;
      removed[slot] = 'slow start';
      left--;
    }
  }
}

/** Equal prompts for different models, adapters or salts have nothing in common; an adapter is a model by another name. */
function chainSeed({ cacheSalt, model }: RequestFacts): string {
  return `${model}\u0000${cacheSalt}`;
}
