import type { FlipRecord } from '../../policy/flip/flip-record.js';
import type { KeptRequest, NewRequest } from '../../store/requests/kept-request.js';
import type { KeptRequests } from '../../store/requests/kept-requests.js';
import type { DecisionRing, FoundDecision } from '../decisions/decision-ring.js';
import type { RefusalRing } from '../decisions/refusal-ring.js';
import type { EndpointName } from '../fleet/endpoint-name.js';
import { KEPT_REPLICAS, packExplanation } from './kept-explanation.js';
import { isForgotten, type PastRequest, type RequestRing } from './request-ring.js';

/** What a gateway remembers of its requests. */
export interface PastTraffic {
  readonly requests: RequestRing;
  readonly refusals: Pick<RefusalRing, 'find'>;
  readonly decisions: Pick<DecisionRing, 'lastOf'>;
  /** The workspace and name of an endpoint. */
  named(endpoint: string): EndpointName;
}

export interface KeeperParts {
  readonly requests: Pick<KeptRequests, 'add' | 'count' | 'deleteOldest'>;
  /** The run of this gateway: tells its requests from those of others on the store. */
  readonly run: string;
  /** The beginning of the gateway's clock, since 1970. */
  readonly epochUs: number;
  readonly nowUs: () => number;
  /** The share of the thread that was in use since the last call, 0 to 1. */
  readonly threadUse: () => number;
  readonly past: PastTraffic;
  readonly settings: KeeperSettings;
}

export interface KeeperSettings {
  /** 0: none are kept. */
  readonly keepHours: number;
  readonly mostRows: number;
}

/** What a turn does, which is every second: rows that it writes, and time for searches of what would have flipped decisions. */
interface Turn {
  readonly rows: number;
  readonly flipsUs: number;
}

/** A row takes about 0.1 ms of the thread: while that is busy, all of it takes about one percent. */
const BUSY: Turn = { rows: 100, flipsUs: 2000 };
const IDLE: Turn = { rows: 500, flipsUs: 10_000 };
const LAST: Turn = { rows: Number.POSITIVE_INFINITY, flipsUs: 10_000 };
/** Share of the thread from which on it is busy. */
const BUSY_SHARE = 0.3;
const BATCH = 100;
/** Oldest rows that are deleted at once. */
const DELETED_AT_ONCE = 50;
const COUNT_EVERY_US = 600 * 1e6;
const HOUR_US = 3600 * 1e6;

/**
 * Copies requests that have ended from memory into the store, in batches and off their path: the ring is the queue. What the store
 * does not take in time is overwritten there, and counted. Rows that are too old or too many are deleted, the oldest first.
 */
export class RequestKeeper {
  /** Requests that are in the store, and requests that left the memory without getting there. */
  written = 0;
  dropped = 0;
  /** Of the last attempt to write; null when it succeeded. */
  problem: string | null = null;
  readonly run: string;
  readonly #parts: KeeperParts;
  #settings: KeeperSettings;
  /** The number of the next request to write. */
  #next = 1;
  #rows = 0;
  #countedUs = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | null = null;
  /** What is left of the turn's time for flips. */
  #flipsUs = 0;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.run = parts.run;
  }

  get isOn(): boolean {
    return this.#settings.keepHours > 0;
  }

  configure(settings: KeeperSettings): void {
    if (!this.isOn && settings.keepHours > 0) this.#next = this.#parts.past.requests.added + 1;
    this.#settings = settings;
  }

  /** Writes what has ended since and deletes what is too old; called every second. Never fails. */
  turn(): Promise<void> {
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
    return this.#working;
  }

  /** Writes all that has ended. */
  async close(): Promise<void> {
    await this.#working;
    await this.#write(LAST);
    if (this.isOn) this.dropped += Math.max(0, this.#parts.past.requests.added + 1 - this.#next);
  }

  async #work(): Promise<void> {
    const turn = this.#parts.threadUse() >= BUSY_SHARE ? BUSY : IDLE;
    await this.#write(turn);
    // More than it has written: the table shrinks to its bounds at any rate.
    if (this.problem === null) await this.#tidy(2 * turn.rows);
  }

  async #write({ flipsUs, rows: most }: Turn): Promise<void> {
    const { past, requests } = this.#parts;
    if (!this.isOn) return;
    let written = 0;
    this.#flipsUs = flipsUs;
    while (written < most) {
      const { oldest } = past.requests;
      if (oldest > this.#next) {
        this.dropped += oldest - this.#next;
        this.#next = oldest;
      }
      const batch = past.requests.from(this.#next, Math.min(BATCH, most - written));
      if (batch.length === 0) break;
      const last = batch.at(-1)!.number;
      const rows = this.#rowsOf(batch.filter((one) => !isForgotten(one)));
      try {
        await requests.add(rows);
      } catch (error) {
        this.problem = (error as Error).message;
        break;
      }
      this.problem = null;
      this.#next = last + 1;
      this.#rows += rows.length;
      this.written += rows.length;
      written += rows.length;
    }
  }

  /** The entries of the ring are copied at once: they are overwritten. */
  #rowsOf(batch: readonly PastRequest[]): NewRequest[] {
    const { past } = this.#parts;
    const since = Math.min(...batch.map(({ arrivedUs }) => arrivedUs));
    const found = past.decisions.lastOf(new Set(batch.map(({ id }) => id)), since, KEPT_REPLICAS);
    const decisions = new Map<PastRequest, FoundDecision>();
    for (const one of batch) {
      const last = found.get(one.id);
      const atUs = last?.decision.atUs ?? Number.NaN;
      if (last !== undefined && atUs >= one.arrivedUs && atUs <= one.endedUs) decisions.set(one, last);
    }
    const flips = this.#flipsOf(decisions);
    return batch.map((one) => {
      const refusal = one.attempts === 0 ? past.refusals.find(one.id) : undefined;
      const refused = refusal?.arrivedUs === one.arrivedUs ? refusal : undefined;
      return {
        request: keptOf(one, past.named(one.endpoint), this.run, this.#parts.epochUs),
        explanation: packExplanation(decisions.get(one)?.decision, refused, flips.get(one)),
      };
    });
  }

  /** What would have flipped decisions, as far as there is time: those about the slowest requests first. */
  #flipsOf(decisions: ReadonlyMap<PastRequest, FoundDecision>): Map<PastRequest, FlipRecord | null> {
    const { nowUs } = this.#parts;
    const flips = new Map<PastRequest, FlipRecord | null>();
    const beganUs = nowUs();
    for (const [one, { findFlip }] of [...decisions].sort(([a], [b]) => waitUs(b) - waitUs(a))) {
      if (nowUs() - beganUs >= this.#flipsUs) break;
      try {
        flips.set(one, findFlip());
      } catch {
        // A policy that throws on changed signals: the request is kept without its flip.
      }
    }
    this.#flipsUs -= nowUs() - beganUs;
    return flips;
  }

  /** @param most rows to delete, about */
  async #tidy(most: number): Promise<void> {
    const { epochUs, nowUs, requests } = this.#parts;
    const { keepHours, mostRows } = this.#settings;
    const now = nowUs();
    try {
      // Other gateways write and delete as well.
      if (now - this.#countedUs >= COUNT_EVERY_US) {
        this.#rows = await requests.count({});
        this.#countedUs = now;
      }
      const until = epochUs + now - keepHours * HOUR_US;
      for (let budget = most; budget > 0 && this.#rows > 0; budget -= DELETED_AT_ONCE) {
        const isFull = this.#rows > mostRows;
        const count = isFull ? Math.min(DELETED_AT_ONCE, this.#rows - mostRows) : DELETED_AT_ONCE;
        const deleted = await requests.deleteOldest(count, isFull ? Number.MAX_SAFE_INTEGER : until);
        if (deleted === 0) break;
        this.#rows -= deleted;
      }
    } catch (error) {
      this.problem = (error as Error).message;
    }
  }
}

/** What a client waited: for the first token, or for the end where there was none. */
const waitUs = ({ arrivedUs, endedUs, firstTokenUs }: PastRequest) =>
  (firstTokenUs < 0 ? endedUs : firstTokenUs) - arrivedUs;

/** A request of the memory as a store keeps it. @param epochUs the beginning of its clock, since 1970 */
export function keptOf(one: PastRequest, { name, workspace }: EndpointName, run: string, epochUs: number): KeptRequest {
  const since = (us: number) => (us < 0 ? -1 : us - one.arrivedUs);
  return {
    endedAt: epochUs + one.addedUs,
    gateway: run,
    number: one.number,
    id: one.id,
    workspace,
    endpoint: name,
    model: one.model,
    keyId: one.keyId,
    sloClass: one.sloClass,
    replica: one.replica,
    outcome: one.outcome,
    ttftUs: since(one.firstTokenUs),
    durationUs: since(one.endedUs),
    facts: {
      arrivedAt: epochUs + one.arrivedUs,
      status: one.status,
      cause: one.cause,
      policy: one.policy,
      attempts: one.attempts,
      isStreamed: one.isStreamed,
      queuedUs: one.queuedUs,
      dispatchedUs: since(one.dispatchedUs),
      inputTokens: one.inputTokens,
      cachedTokens: one.cachedTokens,
      outputTokens: one.outputTokens,
      failedAttempts: one.failedAttempts.map(({ cause, dispatchedUs, endedUs, replicaId }) => ({
        ...{ replica: replicaId, startUs: since(dispatchedUs), endUs: since(endedUs), cause },
      })),
    },
  };
}
