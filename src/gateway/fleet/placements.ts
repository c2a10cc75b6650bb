import type { EndpointLog } from '../decisions/endpoint-log.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { DecidingFleet } from './deciding-fleet.js';
import type { LiveReplica } from './live-replica.js';
import { Suspects } from './suspects.js';

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

/** An endpoint's requests on replicas, by number, and what each replica is credited with or blamed for. */
export class Placements {
  /** Requests that have not ended. */
  inFlight = 0;
  readonly #fleet: DecidingFleet;
  readonly #log: EndpointLog;
  readonly #suspects = new Suspects();
  /** Numbers of requests that have ended, to be used again. */
  readonly #freeNumbers: number[] = [];
  #numbers = 0;

  constructor(fleet: DecidingFleet, log: EndpointLog) {
    this.#fleet = fleet;
    this.#log = log;
  }

  /** The number that the next request to be opened has. */
  get nextNumber(): number {
    const free = this.#freeNumbers;
    return free.length === 0 ? this.#numbers : free[free.length - 1]!;
  }

  /** A request goes to a replica. */
  open(replica: LiveReplica, attempt: number): Placement {
    const request = this.#freeNumbers.pop() ?? this.#numbers++;
    replica.breaker.placed(request);
    replica.active++;
    replica.sentSinceReport++;
    this.inFlight++;
    return { request, replica, attempt, hasFirstToken: false, isOpen: true };
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
  failed({ replica, request }: Placement, { body }: RequestFacts, answered: boolean, nowMs: number): void {
    if (answered && !this.#suspects.blames(body, replica.id, nowMs)) return;
    replica.breaker.failed(request, nowMs);
    replica.blamed(nowMs);
  }

  /** The replica answered the request, well or not, as it should. */
  succeeded({ attempt, replica, request }: Placement, { body }: RequestFacts): void {
    replica.breaker.succeeded(request);
    if (attempt > 0 && this.#suspects.size > 0) this.#suspects.clear(body);
  }

  /** The request has left its replica. */
  close(placement: Placement): void {
    placement.isOpen = false;
    const { request, replica } = placement;
    this.#log.done(request);
    this.#fleet.finished(request);
    replica.breaker.released(request);
    this.#freeNumbers.push(request);
    this.inFlight--;
    replica.finished();
  }
}
