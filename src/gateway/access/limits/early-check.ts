import type { Account } from '../account/account.js';
import type { LimitName } from '../account/shortage.js';
import type { Authority } from './authority.js';
import { overLimit } from './errors.js';
import { PATIENCE_MS } from './ledger.js';
import type { Refusal } from './refusal.js';
import { Reservation } from './reservation.js';

type Done = (refusal: Refusal | null) => void;

/** A request that waits until its account is read from the store. */
interface Waiting {
  readonly account: Account;
  readonly sinceMs: number;
  /** Null once it has been called. */
  done: Done | null;
}

/**
 * Refuses requests whose key is at a limit before their bodies are read. What it refuses, a reservation would refuse as
 * well; what it lets through, a reservation decides. It books nothing, and lets everything through while the store does
 * not respond.
 */
export class EarlyCheck {
  readonly #authority: Authority;
  readonly #nowMs: () => number;
  readonly #limited: Record<LimitName, number>;
  readonly #fault: (error: unknown) => void;
  readonly #reservation = new Reservation();
  /** Those of the next look into the store, and those of the present one. */
  #next: Waiting[] = [];
  #present: readonly Waiting[] = [];

  /** @param limited counts refusals, by the limit they were for */
  constructor(
    authority: Authority,
    {
      limited,
      nowMs,
      fault,
    }: { limited: Record<LimitName, number>; nowMs: () => number; fault: (error: unknown) => void },
  ) {
    this.#fault = fault;
    this.#authority = authority;
    this.#nowMs = nowMs;
    this.#limited = limited;
  }

  /** @param account for all models. `done` is called once, perhaps before this returns. */
  check(account: Account, done: Done): void {
    const authority = this.#authority;
    const nowMs = this.#nowMs();
    if (authority.isLocal) done(authority.hasLease(nowMs) ? this.#refusal(account, authority.storeTime(nowMs)) : null);
    else if (authority.mode === 'joining') done(null);
    else {
      this.#next.push({ account, sinceMs: nowMs, done });
      if (this.#next.length === 1 && this.#present.length === 0) void this.#look();
    }
  }

  /** Ends waits for a store that does not respond. To be called every second or so. */
  sweep(): void {
    const since = this.#nowMs() - PATIENCE_MS;
    for (const waiting of [...this.#present, ...this.#next]) if (waiting.sinceMs <= since) this.#finish(waiting, null);
  }

  /** Reads the accounts of all that wait at once. */
  async #look(): Promise<void> {
    while (this.#next.length > 0) {
      const present = this.#next;
      this.#next = [];
      this.#present = present;
      const accounts = [...new Set(present.map(({ account }) => account))];
      const atMs = await this.#authority.look(accounts).catch(() => null);
      for (const waiting of present) this.#finish(waiting, atMs === null ? null : this.#refusal(waiting.account, atMs));
      this.#present = [];
    }
  }

  #refusal(account: Account, atMs: number): Refusal | null {
    const reservation = this.#reservation;
    reservation.any = account;
    if (!reservation.isHopeless(atMs)) return null;
    this.#limited[reservation.shortage!.limit]++;
    return overLimit(reservation);
  }

  /** What a request throws does not affect the others. */
  #finish(waiting: Waiting, refusal: Refusal | null): void {
    const { done } = waiting;
    waiting.done = null;
    try {
      done?.(refusal);
    } catch (error) {
      this.#fault(error);
    }
  }
}
