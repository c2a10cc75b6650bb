import type { Limits } from '../../../store/keys/key-record.js';
import { MinuteWindow } from './minute-window.js';
import { type LimitName, longer, NEVER_FITS, type Shortage, UNLIMITED } from './shortage.js';
import { dayOf, monthOf, Spending } from './spending.js';

export const NANOS_PER_DOLLAR = 1e9;

/** Seats become free when requests end: usually soon, but the time is unknown. */
const SEAT_RETRY_S = 1;

/**
 * What a key has used of its limits, for all models together or for one. It knows no clock and no store: its owner
 * advances its time before it checks and books. Tokens and money are booked by estimate when a request is admitted, and
 * corrected when it has ended.
 */
export class Account {
  readonly requests = new MinuteWindow();
  readonly tokens = new MinuteWindow();
  readonly day = new Spending(dayOf);
  readonly month = new Spending(monthOf);
  /** Requests under way that this gateway admitted. */
  seats = 0;
  /** Those that other gateways admitted, by gateway. */
  readonly seatsElsewhere = new Map<string, number>();
  /** Whether all of it is saved. */
  isSaved = true;
  requestsPerMinute = UNLIMITED;
  tokensPerMinute = UNLIMITED;
  #concurrent = UNLIMITED;
  #tokensPerDay = UNLIMITED;
  #tokensPerMonth = UNLIMITED;
  #nanosPerDay = UNLIMITED;
  #nanosPerMonth = UNLIMITED;
  #seatsElsewhere = 0;

  constructor(
    readonly keyId: string,
    /** A model, or `*` for all together. */
    readonly scope: string,
    limits: Limits,
  ) {
    this.limit(limits);
  }

  /** Sets the limits; what was used stays used. */
  limit(limits: Limits): void {
    this.requestsPerMinute = limits.requestsPerMinute ?? UNLIMITED;
    this.tokensPerMinute = limits.tokensPerMinute ?? UNLIMITED;
    this.#concurrent = limits.concurrent ?? UNLIMITED;
    this.#tokensPerDay = limits.tokensPerDay ?? UNLIMITED;
    this.#tokensPerMonth = limits.tokensPerMonth ?? UNLIMITED;
    this.#nanosPerDay = nanos(limits.dollarsPerDay);
    this.#nanosPerMonth = nanos(limits.dollarsPerMonth);
  }

  get limitsMoney(): boolean {
    return this.#nanosPerDay !== UNLIMITED || this.#nanosPerMonth !== UNLIMITED;
  }

  /** Requests under way, here and elsewhere. */
  get seatsTaken(): number {
    return this.seats + this.#seatsElsewhere;
  }

  advance(second: number): void {
    this.requests.advance(second);
    this.tokens.advance(second);
    // The window's second: it does not follow a clock that goes back a little.
    this.day.advance(this.requests.second);
    this.month.advance(this.requests.second);
  }

  /** Whether one more request fits, now. */
  fits(tokens: number, nanos: number): boolean {
    return (
      this.requests.total < this.requestsPerMinute &&
      this.tokens.total + tokens <= this.tokensPerMinute &&
      this.seatsTaken < this.#concurrent &&
      this.day.tokens + tokens <= this.#tokensPerDay &&
      this.month.tokens + tokens <= this.#tokensPerMonth &&
      this.day.nanos + nanos <= this.#nanosPerDay &&
      this.month.nanos + nanos <= this.#nanosPerMonth
    );
  }

  book(second: number, tokens: number, nanos: number): void {
    this.requests.add(second, 1);
    this.tokens.add(second, tokens);
    this.day.add(second, tokens, nanos);
    this.month.add(second, tokens, nanos);
  }

  /**
   * Corrects what was booked at `booked` by the actual usage of a request. An overestimate is refunded at `booked`; an
   * underestimate is booked now, because a long response would otherwise escape every window.
   */
  correct(booked: number, second: number, tokens: number, nanos: number): void {
    this.tokens.add(tokens > 0 ? second : booked, tokens);
    this.day.add(booked, tokens, nanos);
    this.month.add(booked, tokens, nanos);
  }

  /** Undoes a booking completely. */
  unbook(booked: number, tokens: number, nanos: number): void {
    this.requests.add(booked, -1);
    this.tokens.add(booked, -tokens);
    this.day.add(booked, -tokens, -nanos);
    this.month.add(booked, -tokens, -nanos);
  }

  /** The limit that refuses a request; of several, the one that does so longest; null if it fits. */
  shortage(tokens: number, nanos: number): Shortage | null {
    const { day, month, requests, requestsPerMinute, tokensPerMinute } = this;
    const untilDay = day.end - requests.second;
    const untilMonth = month.end - requests.second;
    return [
      missing('requestsPerMinute', requestsPerMinute, requests.total, 1, requests.secondsUntil(requestsPerMinute - 1)),
      missing(
        'tokensPerMinute',
        tokensPerMinute,
        this.tokens.total,
        tokens,
        this.tokens.secondsUntil(tokensPerMinute - tokens),
      ),
      missing('concurrent', this.#concurrent, this.seatsTaken, 1, SEAT_RETRY_S),
      missing('tokensPerDay', this.#tokensPerDay, day.tokens, tokens, untilDay),
      missing('tokensPerMonth', this.#tokensPerMonth, month.tokens, tokens, untilMonth),
      missing('dollarsPerDay', this.#nanosPerDay, day.nanos, nanos, untilDay),
      missing('dollarsPerMonth', this.#nanosPerMonth, month.nanos, nanos, untilMonth),
    ].reduce(longer);
  }

  /** The seats that other live gateways hold. */
  setSeatsElsewhere(seats: Iterable<readonly [string, number]>): void {
    this.seatsElsewhere.clear();
    this.#seatsElsewhere = 0;
    for (const [gateway, count] of seats) {
      this.seatsElsewhere.set(gateway, count);
      this.#seatsElsewhere += count;
    }
  }

  /** Clears all bookings; seats held here stay. */
  clear(): void {
    this.requests.clear();
    this.tokens.clear();
    this.day.clear();
    this.month.clear();
    this.setSeatsElsewhere([]);
  }
}

function missing(limit: LimitName, most: number, used: number, needed: number, afterS: number): Shortage | null {
  if (used + needed <= most) return null;
  return { limit, most, left: Math.max(0, most - used), needed, retryAfterS: needed > most ? NEVER_FITS : afterS };
}

function nanos(dollars: number | undefined): number {
  return dollars === undefined ? UNLIMITED : Math.round(dollars * NANOS_PER_DOLLAR);
}
