import type { Endpoint, Placement } from '../fleet/endpoint.js';
import { isUpstreamsOwn } from '../fleet/external-api.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { ExchangeHost } from './exchange-host.js';
import { RequestRecord } from './request-record.js';

/** Answers of a replica that another replica may better. */
const WORTH_ANOTHER_TRY = new Set([502, 503, 504]);

/**
 * A request and the replicas that it is given to, one after the other: which one has it, which had their chance, whose fault it
 * was, and whether there may be one more. What a replica has booked for it is taken back exactly once.
 */
export class TriedRequest extends RequestRecord {
  protected readonly host: ExchangeHost;
  /** Where it is, if it is anywhere. */
  protected placement: Placement | null = null;
  readonly #tried: LiveReplica[] = [];

  constructor(host: ExchangeHost, endpoint: Endpoint, facts: RequestFacts) {
    super(facts, endpoint, host.nowUs());
    this.host = host;
  }

  /** Replicas that had their chance. */
  get tried(): readonly LiveReplica[] {
    return this.#tried;
  }

  /** Goes to a replica, if one can take it; an ApiError when it is not worth a decision. Returns where it is then. */
  protected goToReplica(): Placement | null {
    const { endpoint, host } = this;
    const placement = endpoint.place(this.facts, this.#tried.length, this.#tried);
    if (placement === null) return null;
    this.placement = placement;
    this.replica = placement.replica;
    this.policy = endpoint.policy.name;
    this.rule = endpoint.lastRule;
    this.attempts++;
    this.dispatchedUs = host.nowUs();
    host.metrics.decided(endpoint.name, this.policy);
    if (host.recorder !== null && this.attempts === 1) this.noteBlocks(host.recorder);
    return placement;
  }

  /** Whether another replica may do better than this one, by the status of its response. */
  protected isWorthAnother(status: number): boolean {
    return this.replica!.external === null ? WORTH_ANOTHER_TRY.has(status) : isUpstreamsOwn(status);
  }

  /**
   * Whether there is time, somebody else and leave to try once more.
   * @param hasBroken the replica broke off: where another may be on its way in its place, that is somebody else
   */
  protected mayRetry(hasBroken: boolean): boolean {
    const { budget, retries } = this.host;
    if (this.#tried.length >= retries.most) return false;
    const { endpoint, facts } = this;
    const isAwaited = hasBroken && endpoint.isAwaited && this.replica!.external === null;
    return (isAwaited || endpoint.hasOther(facts.model, this.#tried, this.replica!)) && budget.spend();
  }

  /** The replica failed this request, by its response or without one. */
  protected blame(answered: boolean): void {
    const { breaker, id } = this.replica!;
    const wasOpen = breaker.isOpen;
    this.endpoint.failed(this.placement!, this.facts, answered);
    if (!wasOpen && breaker.isOpen) this.host.metrics.breakerOpened(id);
  }

  /** No replica has it any more. */
  protected leaveReplica(): void {
    if (this.placement === null) return;
    const { placement } = this;
    this.placement = null;
    this.endpoint.finish(placement);
  }

  /** Gives this replica up. Returns the pause before another is asked, in milliseconds: it grows with every try. */
  protected giveReplicaUp(cause: string): number {
    const { host } = this;
    this.leaveReplica();
    this.#tried.push(this.replica!);
    this.noteFailedTry(cause, host.nowUs());
    this.isStreamed = false;
    this.status = 0;
    host.metrics.retries++;
    return host.retries.backoffMs * 2 ** (this.#tried.length - 1) * (0.5 + host.jitter() / 2);
  }
}
