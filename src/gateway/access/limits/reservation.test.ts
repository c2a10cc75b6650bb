import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Limits } from '../../../store/keys/key-record.js';
import { Account } from '../account/account.js';
import { overLimit } from './errors.js';
import { Reservation } from './reservation.js';

const NOON = Date.parse('2026-05-20T12:00:00Z');

/** A request that books on these accounts, as ledgers do it. */
function asks(accounts: { any?: Account; ofModel?: Account }, tokens = 1, nanos = 0): Reservation {
  const reservation = new Reservation();
  reservation.any = accounts.any ?? null;
  reservation.ofModel = accounts.ofModel ?? null;
  reservation.tokens = tokens;
  reservation.nanos = nanos;
  return reservation;
}

function booked(accounts: { any?: Account; ofModel?: Account }, nowMs: number, tokens = 1, nanos = 0): boolean {
  const reservation = asks(accounts, tokens, nanos);
  const fits = reservation.book(nowMs);
  if (fits) reservation.seat(1);
  return fits;
}

function settled(reservation: Reservation, nowMs: number, tokens: number, nanos = 0): void {
  reservation.usedTokens = tokens;
  reservation.usedNanos = nanos;
  reservation.settle(nowMs);
  reservation.seat(-1);
}

const account = (limits: Limits, scope = '*') => new Account('k1', scope, limits);

/** Why a request that does not fit is refused. */
function refusal(accounts: { any?: Account; ofModel?: Account }, nowMs: number, tokens = 1, nanos = 0) {
  const reservation = asks(accounts, tokens, nanos);
  expect(reservation.book(nowMs)).toBe(false);
  return overLimit(reservation);
}

describe('limits', () => {
  it('admits a number of requests per minute, and reports exactly when the next fits', () => {
    const any = account({ requestsPerMinute: 2 });
    expect([0, 5000, 6000].map((ms) => booked({ any }, NOON + ms))).toEqual([true, true, false]);
    const { kind, message, retryAfterS } = refusal({ any }, NOON + 6999);
    expect({ kind, retryAfterS }).toEqual({ kind: 'limited', retryAfterS: 55 });
    expect(message).toBe(
      'The limit of 2 requests per minute (all models) is reached: this request counts for 1, and 0 is left. Try again in 55 s.',
    );
    expect(booked({ any }, NOON + 6000 + 54_999)).toBe(false);
    expect(booked({ any }, NOON + 6000 + 55_000)).toBe(true);
  });

  it('counts tokens by estimate, and reports when the request will fit', () => {
    const any = account({ tokensPerMinute: 100 });
    expect(booked({ any }, NOON, 30)).toBe(true);
    expect(booked({ any }, NOON + 10_000, 50)).toBe(true);
    expect(refusal({ any }, NOON + 20_000, 21).retryAfterS).toBe(41);
    expect(refusal({ any }, NOON + 20_000, 51).retryAfterS).toBe(51);
    expect(booked({ any }, NOON + 20_000, 20)).toBe(true);
  });

  it('reports that a request larger than the limit can never be admitted', () => {
    const any = account({ tokensPerMinute: 100, dollarsPerDay: 0.5 });
    const tooLong = refusal({ any }, NOON, 101);
    expect([tooLong.kind, tooLong.status, tooLong.retryAfterS]).toEqual(['over_limit', 429, null]);
    expect(tooLong.message).toContain(
      'counts for 101, more than the whole limit of 100 tokens per minute (all models)',
    );
    expect(refusal({ any }, NOON, 1, 500_000_001).message).toContain(
      'counts for 0.500000001, more than the whole limit of 0.5 dollars',
    );
  });

  it('admits a number of concurrent requests', () => {
    const any = account({ concurrent: 1 });
    const first = asks({ any });
    expect(first.book(NOON)).toBe(true);
    first.seat(1);
    const { message, retryAfterS } = refusal({ any }, NOON);
    expect([retryAfterS, message]).toEqual([1, expect.stringContaining('1 requests at a time')]);
    settled(first, NOON, 1);
    expect(booked({ any }, NOON)).toBe(true);
  });

  it('counts the requests under way at other gateways', () => {
    const any = account({ concurrent: 3 });
    any.setSeatsElsewhere([
      ['a', 1],
      ['b', 1],
    ]);
    expect(booked({ any }, NOON)).toBe(true);
    expect(booked({ any }, NOON)).toBe(false);
  });

  it.each([
    ['tokensPerDay', 12 * 3600],
    ['tokensPerMonth', 12 * 3600 + 11 * 86_400],
  ] as const)('lets %s be spent', (limit, retryAfterS) => {
    const any = account({ [limit]: 100 });
    expect(booked({ any }, NOON, 60)).toBe(true);
    const refused = refusal({ any }, NOON + 999, 41);
    expect([refused.kind, refused.retryAfterS]).toEqual(['out_of_budget', retryAfterS]);
    expect(refused.message).toContain('counts for 41, and 40 is left');
    expect(booked({ any }, NOON, 40)).toBe(true);
    expect(booked({ any }, NOON + retryAfterS * 1000, 100)).toBe(true);
  });

  it.each([
    ['dollarsPerDay', 12 * 3600],
    ['dollarsPerMonth', 12 * 3600 + 11 * 86_400],
  ] as const)('lets %s be spent', (limit, retryAfterS) => {
    const any = account({ [limit]: 0.0000001 });
    expect(booked({ any }, NOON, 1000, 60)).toBe(true);
    const refused = refusal({ any }, NOON, 1000, 41);
    expect([refused.kind, refused.retryAfterS]).toEqual(['out_of_budget', retryAfterS]);
    expect(refused.message).toContain('0.0000001 dollars per');
    expect(refused.message).toContain('counts for 0.000000041, and 0.00000004 is left');
    expect(booked({ any }, NOON, 1000, 40)).toBe(true);
    expect(booked({ any }, NOON + retryAfterS * 1000, 1, 100)).toBe(true);
  });

  it('reports the limit that refuses a request longest', () => {
    const any = account({ requestsPerMinute: 1, tokensPerDay: 5, concurrent: 1 });
    expect(booked({ any }, NOON, 5)).toBe(true);
    expect(refusal({ any }, NOON, 1).message).toContain('tokens per day');
    expect(refusal({ any }, NOON, 6).kind).toBe('over_limit');
  });

  it('keeps what was used when the limits change', () => {
    const any = account({ requestsPerMinute: 5 });
    expect(booked({ any }, NOON)).toBe(true);
    any.limit({ requestsPerMinute: 1 });
    expect(booked({ any }, NOON)).toBe(false);
    any.limit({});
    expect(booked({ any }, NOON)).toBe(true);
  });
});

describe('two accounts', () => {
  it('both have to allow it, or neither is touched', () => {
    const any = account({ requestsPerMinute: 3 });
    const ofModel = account({ requestsPerMinute: 1 }, 'm');
    expect(booked({ any, ofModel }, NOON)).toBe(true);
    expect(refusal({ any, ofModel }, NOON).message).toContain("1 requests per minute (model 'm')");
    expect([any.requests.total, ofModel.requests.total]).toEqual([1, 1]);
    expect(booked({ any }, NOON)).toBe(true);
    expect(booked({ any }, NOON)).toBe(true);
    expect(refusal({ any, ofModel: account({ requestsPerMinute: 9 }, 'n') }, NOON).message).toContain('(all models)');
  });

  it('report, in the headers, the limit with less left', () => {
    const any = account({ requestsPerMinute: 10, tokensPerMinute: 50 });
    const ofModel = account({ requestsPerMinute: 3, tokensPerMinute: 1000 }, 'm');
    const reservation = asks({ any, ofModel }, 7);
    reservation.book(NOON);
    expect(reservation).toMatchObject({ limitRequests: 3, remainingRequests: 2, limitTokens: 50, remainingTokens: 43 });
    expect(reservation).toMatchObject({ resetRequests: 61, resetTokens: 61 });
    const late = asks({ any, ofModel }, 44);
    late.book(NOON + 20_000);
    expect(late).toMatchObject({ remainingRequests: 2, remainingTokens: 43, resetRequests: 41, resetTokens: 41 });
  });
});

describe('the end of a request', () => {
  it('refunds what was not used, where it was booked', () => {
    const any = account({ tokensPerMinute: 100, tokensPerDay: 1000, dollarsPerDay: 1 });
    const reservation = asks({ any }, 80, 800);
    reservation.book(NOON);
    reservation.seat(1);
    settled(reservation, NOON + 30_000, 30, 300);
    expect([any.tokens.total, any.day.tokens, any.day.nanos, any.month.nanos]).toEqual([30, 30, 300, 300]);
    any.advance(NOON / 1000 + 61);
    expect(any.tokens.total).toBe(0);
  });

  it('books usage beyond the estimate when it is known, however long the response took', () => {
    const any = account({ tokensPerMinute: 1000 });
    const reservation = asks({ any }, 10);
    reservation.book(NOON);
    settled(reservation, NOON + 120_000, 500);
    expect([any.tokens.total, any.day.tokens]).toEqual([490, 500]);
    any.advance(NOON / 1000 + 120 + 60);
    expect(any.tokens.total).toBe(490);
  });

  it('leaves no trace when it is refunded, also on the next day', () => {
    const any = account({ requestsPerMinute: 9, tokensPerMinute: 100 });
    const ofModel = account({ tokensPerMonth: 100 }, 'm');
    const midnight = NOON + 12 * 3600_000;
    for (const endMs of [NOON + 1000, midnight + 1000]) {
      const reservation = asks({ any, ofModel }, 50, 5);
      expect(reservation.book(endMs - 1500)).toBe(true);
      reservation.refund(endMs);
      expect([any.requests.total, any.tokens.total, any.day.tokens, any.day.nanos]).toEqual([0, 0, 0, 0]);
      expect([ofModel.month.tokens, ofModel.month.nanos]).toEqual([0, 0]);
    }
  });
});

/** A request: how long after the one before, its estimate, what it uses, and how long it takes. */
const arrivals = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.nat(50), fc.nat(5000), fc.integer({ min: 59_000, max: 60_000 }), fc.nat(70_000)),
    estimate: fc.integer({ min: 1, max: 40 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    takesMs: fc.oneof(fc.nat(3000), fc.nat(100_000)),
    refunded: fc.boolean(),
  }),
  { maxLength: 80 },
);

describe('over any arrivals', () => {
  it('no 60 seconds hold more requests or tokens than the limit, as long as estimates hold', () => {
    fc.assert(
      fc.property(
        arrivals,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 40, max: 150 }),
        (requests, rpm, tpm) => {
          const any = account({ requestsPerMinute: rpm, tokensPerMinute: tpm });
          const served: { atMs: number; tokens: number }[] = [];
          const ends: { atMs: number; end: (atMs: number) => void }[] = [];
          let nowMs = NOON;
          for (const { pauseMs, estimate, share, takesMs, refunded } of requests) {
            nowMs += pauseMs;
            for (const one of ends.filter(({ atMs }) => atMs <= nowMs)) one.end(one.atMs);
            for (let i = ends.length - 1; i >= 0; i--) if (ends[i]!.atMs <= nowMs) ends.splice(i, 1);
            const reservation = asks({ any }, estimate);
            if (!reservation.book(nowMs)) continue;
            const used = Math.floor(estimate * share);
            if (!refunded) served.push({ atMs: nowMs, tokens: used });
            const end = (atMs: number) => {
              if (refunded) reservation.refund(atMs);
              else settled(reservation, atMs, used);
            };
            ends.push({ atMs: nowMs + takesMs, end });
          }
          for (const { atMs: from } of served) {
            const within = served.filter(({ atMs }) => atMs >= from && atMs < from + 60_000);
            expect(within.length).toBeLessThanOrEqual(rpm);
            expect(within.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(tpm);
          }
        },
      ),
    );
  });

  it('retry times are exact: a refused request is admitted at that time, and not a second earlier', () => {
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 40, max: 100 }), (requests, rpm, tpm) => {
        const any = account({ requestsPerMinute: rpm, tokensPerMinute: tpm });
        let nowMs = NOON;
        for (const { pauseMs, estimate } of requests) {
          nowMs += pauseMs;
          const reservation = asks({ any }, estimate);
          if (reservation.book(nowMs)) continue;
          const { retryAfterS } = reservation.shortage!;
          expect(reservation.book(nowMs + (retryAfterS - 1) * 1000)).toBe(false);
          nowMs += retryAfterS * 1000;
          expect(reservation.book(nowMs)).toBe(true);
        }
      }),
    );
  });

  it('booking, settling and refunding add up', () => {
    fc.assert(
      fc.property(arrivals, (requests) => {
        const any = account({});
        const ofModel = account({}, 'm');
        let used = 0;
        const open = requests.map(({ estimate, refunded, share }, i) => {
          const reservation = asks({ any, ofModel }, estimate, estimate * 10);
          reservation.book(NOON + i * 100);
          reservation.seat(1);
          return { reservation, refunded, used: Math.floor(3 * estimate * share) };
        });
        expect(any.seats).toBe(requests.length);
        for (const { reservation, refunded, used: tokens } of open) {
          if (refunded) {
            reservation.refund(NOON + 20_000);
            reservation.seat(-1);
          } else {
            settled(reservation, NOON + 20_000, tokens, tokens * 10);
            used += tokens;
          }
        }
        const kept = requests.filter(({ refunded }) => !refunded).length;
        for (const one of [any, ofModel]) {
          expect([one.seats, one.requests.total, one.tokens.total]).toEqual([0, kept, used]);
          expect([one.day.tokens, one.day.nanos]).toEqual([used, used * 10]);
          expect([one.month.tokens, one.month.nanos]).toEqual([used, used * 10]);
        }
      }),
    );
  });
});
