import type { RandomStream } from '../../kernel/random-stream.js';
import { createExplanation } from '../../policy/explanation.js';
import { policyStream } from '../../policy/host/policy-streams.js';
import type { Decision } from '../decisions/decision-ring.js';
import type { EndpointLog } from '../decisions/endpoint-log.js';
import { nestedTooDeeply } from '../errors.js';
import { isTooDeep } from '../request/nesting.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { DecidingFleet, DecisionInput } from './deciding-fleet.js';
import { findRemovals } from './eligibility.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { LiveReplica } from './live-replica.js';
import { MeasuredPrompt } from './measured-prompt.js';
import { applyShares } from './request-shares.js';

/** Decides which of an endpoint's replicas takes a request, and tells log and ring how that was decided. */
export class ReplicaChoice {
  /** Of the request that was measured or decided on last; good until the next. */
  readonly prompt = new MeasuredPrompt();
  readonly #endpoint: string;
  readonly #parts: EndpointParts;
  readonly #fleet: DecidingFleet;
  readonly #log: EndpointLog;
  /** Draws where weights say how much each is asked; null where nothing tells replicas apart. */
  #shares: RandomStream | null = null;
  #why = createExplanation(0);
  readonly #removed: (string | null)[] = [];
  readonly #decision: Decision;

  constructor(endpoint: string, parts: EndpointParts, fleet: DecidingFleet, log: EndpointLog) {
    this.#endpoint = endpoint;
    this.#parts = parts;
    this.#fleet = fleet;
    this.#log = log;
    this.#decision = { facts: { id: '', session: '', inputTokens: 0 }, endpoint, atUs: 0, blockCount: 0, attempt: 0 };
  }

  /** So many replicas are to choose from now. */
  resize(replicas: number): void {
    this.#why = createExplanation(replicas);
  }

  /** @param hasShares whether tiers or weights tell replicas apart from now on */
  share(hasShares: boolean): void {
    if (!hasShares) this.#shares = null;
    else this.#shares ??= policyStream(this.#parts.config.seed, `weights/${this.#endpoint}`);
  }

  /**
   * The slot of the replica that takes request number `request`, or -1 when none may. An ApiError when the request is not worth
   * a decision.
   * @param tried replicas that had their chance
   */
  choose(
    request: number,
    facts: RequestFacts,
    attempt: number,
    tried: readonly LiveReplica[],
    replicas: readonly LiveReplica[],
  ): number {
    const { config, nowUs, ring } = this.#parts;
    const at = nowUs();
    const fleet = this.#fleet;
    const input = this.#input(facts, at);
    findRemovals(replicas, facts.model, at / 1000, tried, fleet.view.inFlight, config.slowStartMs, this.#removed);
    if (this.#shares !== null) applyShares(replicas, this.#removed, this.#shares);
    const why = this.#why;
    const chosen = fleet.decide(request, input, why);
    this.#log.request(request, chosen, input, fleet);
    const decision = this.#decision;
    decision.facts = facts;
    decision.atUs = at;
    decision.blockCount = input.blockCount;
    decision.attempt = attempt;
    ring.add(decision, fleet, chosen, why);
    return chosen;
  }

  /** How the last decision was made, in a few words. */
  get lastRule(): string {
    return this.#why.rule;
  }

  /** Why replicas could not take the last request, each reason once; empty when there were none. */
  get lastRemovals(): string {
    return [...new Set(this.#removed.filter((reason) => reason !== null))].join('; ');
  }

  #input(facts: RequestFacts, nowUs: number): DecisionInput {
    if (this.#fleet.readsBody && isTooDeep(facts.body)) throw nestedTooDeeply();
    const { prompt } = this;
    prompt.measure(facts, this.#fleet.blockSize);
    prompt.release();
    return {
      nowUs,
      id: facts.id,
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
