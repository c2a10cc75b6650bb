import type { Account } from '../account/account.js';
import { WINDOW_SECONDS } from '../account/minute-window.js';
import { longer, type Shortage, UNLIMITED } from '../account/shortage.js';
import type { Refusal } from './refusal.js';

/** The caller's callback. Called once, perhaps before `reserve` returns. */
export interface Reserving {
  /** @param reservation to be settled or refunded, exactly once; null if it was refused or there is nothing to limit */
  reserved(reservation: Reservation | null, refusal: Refusal | null): void;
}

/** The next operation of the ledger on it. */
export type Step = 'idle' | 'reserve' | 'held' | 'settle' | 'refund';

/**
 * The booking of one request, on one account or two. Ledgers reuse these objects: after `settle` or `refund` it belongs
 * to another request.
 */
export class Reservation {
  any: Account | null = null;
  ofModel: Account | null = null;
  model = '';
  waiter: Reserving | null = null;
  step: Step = 'idle';
  /** Whether it is booked; false when it was admitted while the store could not be reached. */
  isBooked = false;
  shortage: Shortage | null = null;
  /** The scope of the account that refused it. */
  shortScope = '';
  sinceMs = 0;
  /** The time, tokens and money of the booking. */
  second = 0;
  tokens = 0;
  nanos = 0;
  /** The actual usage. */
  usedTokens = 0;
  usedNanos = 0;
  /** For the response headers, at the time of the booking; -1 where there is no such limit. */
  limitRequests = -1;
  remainingRequests = -1;
  limitTokens = -1;
  remainingTokens = -1;
  /** Seconds until nothing would be counted any more. */
  resetRequests = 0;
  resetTokens = 0;

  /** Books it on all its accounts, or on none of them if it does not fit into one. */
  book(nowMs: number): boolean {
    const { any, ofModel, nanos, tokens } = this;
    const second = Math.floor(nowMs / 1000);
    any?.advance(second);
    ofModel?.advance(second);
    const fits = (any === null || any.fits(tokens, nanos)) && (ofModel === null || ofModel.fits(tokens, nanos));
    if (fits) {
      this.second = second;
      this.isBooked = true;
      this.shortage = null;
      any?.book(second, tokens, nanos);
      ofModel?.book(second, tokens, nanos);
    } else {
      const general = any === null ? null : any.shortage(tokens, nanos);
      const special = ofModel === null ? null : ofModel.shortage(tokens, nanos);
      this.shortage = longer(general, special);
      this.shortScope = this.shortage === general ? '*' : ofModel!.scope;
    }
    this.#remember();
    return fits;
  }

  /** Whether the account for all models refuses any request now, however small. Books nothing. */
  isHopeless(nowMs: number): boolean {
    const any = this.any!;
    any.advance(Math.floor(nowMs / 1000));
    if (any.fits(0, 0)) return false;
    this.shortage = any.shortage(0, 0);
    this.shortScope = '*';
    this.#remember();
    return true;
  }

  /** Corrects the estimate by what was used. */
  settle(nowMs: number): void {
    const { any, ofModel, nanos, second: booked, tokens, usedNanos, usedTokens } = this;
    const second = Math.floor(nowMs / 1000);
    any?.advance(second);
    ofModel?.advance(second);
    any?.correct(booked, second, usedTokens - tokens, usedNanos - nanos);
    ofModel?.correct(booked, second, usedTokens - tokens, usedNanos - nanos);
  }

  /** Refunds everything. */
  refund(nowMs: number): void {
    const { any, ofModel, nanos, second: booked, tokens } = this;
    const second = Math.floor(nowMs / 1000);
    any?.advance(second);
    ofModel?.advance(second);
    any?.unbook(booked, tokens, nanos);
    ofModel?.unbook(booked, tokens, nanos);
  }

  /** Adds it to the requests under way, or removes it (-1). */
  seat(change: number): void {
    if (this.any !== null) this.any.seats += change;
    if (this.ofModel !== null) this.ofModel.seats += change;
  }

  #remember(): void {
    this.limitRequests = -1;
    this.limitTokens = -1;
    this.#rememberOf(this.any);
    this.#rememberOf(this.ofModel);
  }

  /** Of two limits, the one with less left is reported. */
  #rememberOf(account: Account | null): void {
    if (account === null) return;
    const { requestsPerMinute, tokensPerMinute } = account;
    const requests = Math.max(0, requestsPerMinute - account.requests.total);
    if (requests !== UNLIMITED && (this.limitRequests === -1 || requests < this.remainingRequests)) {
      this.limitRequests = requestsPerMinute;
      this.remainingRequests = requests;
      // Right after a booking the window is up to date.
      this.resetRequests = this.shortage === null ? WINDOW_SECONDS : account.requests.secondsUntil(0);
    }
    const tokens = Math.max(0, tokensPerMinute - account.tokens.total);
    if (tokens !== UNLIMITED && (this.limitTokens === -1 || tokens < this.remainingTokens)) {
      this.limitTokens = tokensPerMinute;
      this.remainingTokens = tokens;
      this.resetTokens = this.shortage === null && this.tokens > 0 ? WINDOW_SECONDS : account.tokens.secondsUntil(0);
    }
  }
}
