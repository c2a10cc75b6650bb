import { LIMIT_NAMES } from '../../../store/keys/key-record.js';
import type { Account } from '../account/account.js';
import type { BookMoment } from '../account/account-book.js';
import type { LimitName } from '../account/shortage.js';
import type { AccessKey } from '../keys/access-key.js';
import type { Authority } from './authority.js';
import { cannotCount, overLimit } from './errors.js';
import { Reservation, type Reserving } from './reservation.js';

/** How long a request waits for a store that does not respond. */
export const PATIENCE_MS = 3000;

/** The most requests admitted without a check that wait to be booked after their end; further ones are not booked. */
const MOST_UNBOOKED = 10_000;

/**
 * Admits or refuses requests. While memory holds the accounts the decision is synchronous. While the store does,
 * everything gathered during one transaction goes into the next, which reads the accounts, applies the same changes as
 * in memory, and writes them back.
 */
export class Ledger {
  /** Refusals, by the limit they were for. */
  readonly limited: Record<LimitName, number>;
  /** Requests that were refused or admitted because the store could not be reached. */
  refusedUnasked = 0;
  admittedUnasked = 0;
  onStoreFailure: 'closed' | 'open';
  readonly #authority: Authority;
  readonly #nowMs: () => number;
  readonly #fault: (error: unknown) => void;
  readonly #pool: Reservation[] = [];
  /** Operations that wait for the store, and those in the present transaction. */
  #queue: Reservation[] = [];
  #batch: readonly Reservation[] = [];
  #isPumping = false;

  constructor(
    authority: Authority,
    {
      onStoreFailure,
      nowMs,
      fault,
    }: { onStoreFailure: 'closed' | 'open'; nowMs: () => number; fault: (error: unknown) => void },
  ) {
    this.#authority = authority;
    this.onStoreFailure = onStoreFailure;
    this.#nowMs = nowMs;
    this.#fault = fault;
    this.limited = Object.fromEntries(LIMIT_NAMES.map((name) => [name, 0])) as Record<LimitName, number>;
  }

  /** Reserves on the accounts of a key. The waiter is called, perhaps before this returns. */
  reserve(key: AccessKey, model: string, tokens: number, nanos: number, waiter: Reserving): void {
    const { any } = key;
    const ofModel = key.ofModel(model);
    if (any === null && ofModel === null) {
      waiter.reserved(null, null);
      return;
    }
    const reservation = this.#pool.pop() ?? new Reservation();
    reservation.any = any;
    reservation.ofModel = ofModel;
    reservation.model = model;
    reservation.tokens = tokens;
    reservation.nanos = nanos;
    reservation.waiter = waiter;
    reservation.isBooked = false;
    const nowMs = this.#nowMs();
    if (!this.#authority.isLocal) {
      reservation.sinceMs = nowMs;
      this.#enqueue(reservation, 'reserve');
    } else if (this.#authority.hasLease(nowMs)) {
      this.#reserveHere(reservation, nowMs);
    } else {
      this.#giveUp(reservation);
    }
  }

  /** Books the actual usage. The reservation must not be used afterwards. */
  settle(reservation: Reservation, tokens: number, nanos: number): void {
    reservation.usedTokens = tokens;
    reservation.usedNanos = nanos;
    this.#end(reservation, 'settle');
  }

  /** Nothing was served. The reservation must not be used afterwards. */
  refund(reservation: Reservation): void {
    this.#end(reservation, 'refund');
  }

  #end(reservation: Reservation, step: 'settle' | 'refund'): void {
    if (reservation.step !== 'held') throw new Error(`a reservation that is not held (${reservation.step}) cannot end`);
    if (reservation.isBooked) reservation.seat(-1);
    else if (step === 'refund' || this.#queue.length >= MOST_UNBOOKED) {
      this.#free(reservation);
      return;
    }
    if (this.#authority.isLocal) this.#endHere(reservation, step);
    else this.#enqueue(reservation, step);
  }

  // In memory.

  #reserveHere(reservation: Reservation, nowMs: number): void {
    if (reservation.book(this.#authority.storeTime(nowMs))) {
      reservation.seat(1);
      this.#changed(reservation);
    }
    this.#tell(reservation);
  }

  #endHere(reservation: Reservation, step: 'settle' | 'refund'): void {
    reservation[step](this.#authority.storeTime(this.#nowMs()));
    this.#changed(reservation);
    this.#free(reservation);
  }

  #changed({ any, ofModel }: Reservation): void {
    if (any !== null) this.#authority.book.changed(any);
    if (ofModel !== null) this.#authority.book.changed(ofModel);
  }

  /** Calls the waiter with the result. */
  #tell(reservation: Reservation): void {
    const waiter = reservation.waiter!;
    reservation.waiter = null;
    if (reservation.isBooked) {
      reservation.step = 'held';
      waiter.reserved(reservation, null);
      return;
    }
    this.limited[reservation.shortage!.limit]++;
    const refusal = overLimit(reservation);
    this.#free(reservation);
    waiter.reserved(null, refusal);
  }

  #free(reservation: Reservation): void {
    reservation.step = 'idle';
    reservation.any = null;
    reservation.ofModel = null;
    this.#pool.push(reservation);
  }

  // In the store.

  #enqueue(reservation: Reservation, step: 'reserve' | 'settle' | 'refund'): void {
    reservation.step = step;
    this.#queue.push(reservation);
    this.pump();
  }

  /** Schedules the waiting operations, together with those that arrive before the transaction begins. */
  pump(): void {
    if (this.#isPumping || this.#queue.length === 0) return;
    if (this.#authority.isLocal) this.#catchUp();
    else if (this.#authority.mode === 'shared') {
      this.#isPumping = true;
      setImmediate(() => void this.#authority.serially(() => this.#runBatch()));
    }
  }

  /** Applies in memory the operations that waited for the store. */
  #catchUp(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const reservation of queue) {
      if (reservation.step === 'reserve') this.#safely(() => this.#reserveHere(reservation, this.#nowMs()));
      else this.#endHere(reservation, reservation.step as 'settle' | 'refund');
    }
  }

  async #runBatch(): Promise<void> {
    this.#isPumping = false;
    // A heartbeat may have changed the mode meanwhile.
    if (this.#authority.mode !== 'shared') {
      this.pump();
      return;
    }
    if (this.#queue.length === 0) return;
    const batch = this.#queue;
    this.#queue = [];
    this.#batch = batch;
    const isDone = await this.#authority.inStore((moment) => this.#apply(moment, batch)).catch(() => false);
    this.#batch = [];
    for (const reservation of batch) {
      if (isDone) this.#finish(reservation);
      else this.#undo(reservation);
    }
    if (isDone) this.pump();
  }

  async #apply(moment: BookMoment, batch: readonly Reservation[]): Promise<void> {
    const accounts = new Set<Account>();
    for (const { any, ofModel } of batch) {
      if (any !== null) accounts.add(any);
      if (ofModel !== null) accounts.add(ofModel);
    }
    await this.#authority.book.load(moment, accounts);
    for (const reservation of batch) {
      if (reservation.step !== 'reserve') reservation[reservation.step as 'settle' | 'refund'](moment.now);
      else if (reservation.book(moment.now)) reservation.seat(1);
    }
    await this.#authority.book.write(moment, accounts);
  }

  #finish(reservation: Reservation): void {
    if (reservation.step !== 'reserve') this.#free(reservation);
    else if (reservation.waiter !== null) this.#safely(() => this.#tell(reservation));
    else if (!reservation.isBooked) this.#free(reservation);
    else {
      // The waiter has received another result meanwhile.
      reservation.seat(-1);
      this.#enqueue(reservation, 'refund');
    }
  }

  /**
   * The transaction failed. Ended requests are retried, and so is everything while this gateway joins; otherwise the
   * setting decides.
   */
  #undo(reservation: Reservation): void {
    if (reservation.step === 'reserve') {
      if (reservation.isBooked) reservation.seat(-1);
      reservation.isBooked = false;
      if (reservation.waiter === null) {
        this.#free(reservation);
        return;
      }
      if (this.#authority.mode === 'shared') {
        this.#giveUp(reservation);
        return;
      }
    }
    this.#queue.push(reservation);
  }

  /** Ends waits for a store that does not respond. To be called every second or so. */
  sweep(): void {
    const since = this.#nowMs() - PATIENCE_MS;
    const isLate = ({ sinceMs, step, waiter }: Reservation) =>
      step === 'reserve' && waiter !== null && sinceMs <= since;
    const late = this.#queue.filter(isLate);
    if (late.length > 0) this.#queue = this.#queue.filter((reservation) => !isLate(reservation));
    for (const reservation of late) this.#giveUp(reservation);
    for (const reservation of this.#batch) if (isLate(reservation)) this.#giveUp(this.#standIn(reservation));
  }

  /** For a waiter whose reservation may still be booked: the transaction finishes it and refunds it. */
  #standIn(reservation: Reservation): Reservation {
    const other = this.#pool.pop() ?? new Reservation();
    other.any = reservation.any;
    other.ofModel = reservation.ofModel;
    other.model = reservation.model;
    other.isBooked = false;
    other.waiter = reservation.waiter;
    reservation.waiter = null;
    return other;
  }

  /** The store cannot be reached: the setting decides. */
  #giveUp(reservation: Reservation): void {
    const waiter = reservation.waiter!;
    reservation.waiter = null;
    if (this.onStoreFailure === 'open') {
      this.admittedUnasked++;
      // Nothing is booked now; the actual usage will be.
      reservation.tokens = 0;
      reservation.nanos = 0;
      reservation.limitRequests = -1;
      reservation.limitTokens = -1;
      reservation.step = 'held';
      this.#safely(() => waiter.reserved(reservation, null));
    } else {
      this.refusedUnasked++;
      this.#free(reservation);
      this.#safely(() => waiter.reserved(null, cannotCount()));
    }
  }

  /** Calls a waiter; what it throws does not affect the others. */
  #safely(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#fault(error);
    }
  }

  /** Books ended requests in the store, as far as it can be reached. */
  drain(): Promise<void> {
    return this.#authority.serially(() => this.#runBatch());
  }
}
