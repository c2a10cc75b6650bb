import type { RequestFacts } from '../request/request-facts.js';
import type { DecidingFleet, DecisionInput } from './deciding-fleet.js';
import type { DecisionRing } from './decision-ring.js';
import type { EndpointLog } from './endpoint-log.js';
import type { ShadowDecision } from './shadow-decision.js';

/** Follows the decisions of an endpoint and what becomes of them. It runs on the response path: it copies and leaves. */
export interface DecisionObserver {
  /**
   * After the choice and before it is booked: the fleet's view is the one that the policy saw. Everything passed is reused for
   * the next request, except `facts`.
   * @param decision its number in the ring
   */
  decided(
    decision: number,
    request: number,
    chosen: number,
    input: DecisionInput,
    facts: RequestFacts,
    fleet: DecidingFleet,
  ): void;
  firstToken(request: number, nowUs: number): void;
  /** The request has left its replica, in any way. */
  ended(request: number, nowUs: number): void;
}

/** Where an endpoint's decisions are observed, and where observers write what they found. */
export class DecisionWatch {
  /** Null: decisions cost nothing more. */
  observer: DecisionObserver | null = null;
  /** Null where decisions are not logged. */
  log: EndpointLog | null = null;
  readonly #ring: DecisionRing;

  constructor(ring: DecisionRing) {
    this.#ring = ring;
  }

  /** Adds the choices of shadows, which the caller may reuse, to a decision and to the log. */
  note(decision: number, request: number, id: string, shadows: readonly ShadowDecision[]): void {
    this.#ring.note(decision, shadows);
    this.log?.shadows(request, id, shadows);
  }
}
