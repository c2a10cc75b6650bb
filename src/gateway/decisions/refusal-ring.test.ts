import { describe, expect, it } from 'vitest';
import { ApiError } from '../../protocol/errors.js';
import { Account } from '../access/account/account.js';
import { modelForbidden } from '../access/errors.js';
import { cannotCount, overLimit } from '../access/limits/errors.js';
import { Reservation } from '../access/limits/reservation.js';
import type { keyWith } from '../access/test-gateway.fixture.js';
import { bodyTooLarge, modelUnknown, noReplica, queueFull, refusedEntry } from '../errors.js';
import { RefusalRing, type RefusedRequest } from './refusal-ring.js';

const EPOCH_US = Date.parse('2026-05-20T12:00:00Z') * 1000;

function request(id: string, change: Partial<RefusedRequest> = {}): RefusedRequest {
  return {
    ...{ id, endpoint: { name: 'default' }, keyId: 'key000000001', cause: 'over a limit' },
    ...{ arrivedUs: 1_000_000, endedUs: 1_500_000 },
    ...change,
  };
}

/** The refusal of a request that does not fit into a limit. */
function short(limits: Parameters<typeof keyWith>[0], tokens: number, nanos = 0) {
  const reservation = new Reservation();
  const { '*': any, ...ofModels } = limits;
  if (any !== undefined) reservation.any = new Account('key000000001', '*', any);
  const [ofModel] = Object.entries(ofModels);
  if (ofModel !== undefined) reservation.ofModel = new Account('key000000001', ...ofModel);
  reservation.tokens = tokens;
  reservation.nanos = nanos;
  expect(reservation.book(EPOCH_US / 1000)).toBe(true);
  expect(reservation.book(EPOCH_US / 1000)).toBe(false);
  return overLimit(reservation);
}

describe('RefusalRing', () => {
  it('records when a request was refused, by which limit, and when to retry', () => {
    const ring = new RefusalRing(10, EPOCH_US);
    ring.refused(request('q'), short({ '*': { tokensPerMinute: 100 } }, 60));
    expect(ring.find('q')).toEqual({
      ...{ id: 'q', endpoint: 'default', key: 'key000000001', arrivedUs: 1_000_000, atUs: 1_500_000 },
      at: '2026-05-20T12:00:01.500Z',
      ...{ status: 429, code: 'rate_limit_exceeded', by: 'over a limit' },
      limit: { name: 'tokens_per_minute', scope: '*', most: 100, left: 40, needed: 60 },
      shortfall: null,
      retryAfterS: 61,
      retryAt: '2026-05-20T12:01:02.500Z',
    });
    const lacks = { name: 'tokens in the bucket', value: 3, needed: 'at least', bound: 9 } as const;
    ring.refused(request('bucket'), refusedEntry('insufficient tokens', 2, lacks));
    expect(ring.find('bucket')).toMatchObject({ shortfall: lacks, retryAfterS: 2 });
    ring.refused(request('money'), short({ m: { dollarsPerDay: 0.5 } }, 1, 3e8));
    expect(ring.find('money')).toMatchObject({
      code: 'insufficient_quota',
      limit: { name: 'dollars_per_day', scope: 'm', most: 0.5, left: 0.2, needed: 0.3 },
    });
  });

  it('records queues, missing replicas and an unavailable store', () => {
    const ring = new RefusalRing(10, EPOCH_US);
    ring.refused(request('queue', { keyId: '', cause: 'the gateway queue is full' }), queueFull(7, 3));
    ring.refused(request('replica', { cause: 'no replica can take it' }), noReplica('m', 'a is down'));
    ring.refused(request('store'), cannotCount());
    expect(['queue', 'replica', 'store'].map((id) => ring.find(id))).toMatchObject([
      { by: 'the gateway queue is full', status: 429, retryAfterS: 3, limit: null, key: null },
      { by: 'no replica can take it', status: 503, retryAfterS: null, retryAt: null },
      { status: 503, code: 'unavailable', retryAfterS: 1, limit: null },
    ]);
  });

  it('records requests that reached no endpoint, except those without a valid key', () => {
    const ring = new RefusalRing(10, EPOCH_US);
    ring.turnedAway('model', modelUnknown('m'), '', 5);
    ring.turnedAway('forbidden', modelForbidden('k', 'm'), 'k', 6);
    ring.turnedAway('odd', bodyTooLarge(5), '', 7);
    ring.turnedAway('wrong key', new ApiError('unauthorized', 'wrong'), '', 8);
    ring.turnedAway('wrong keys', new ApiError('limited', 'slow down'), '', 9);
    ring.turnedAway('limited', new ApiError('limited', 'slow down', null, 3), 'k', 9);
    expect(ring.size).toBe(4);
    expect(ring.find('limited')).toMatchObject({ by: 'over a limit', key: 'k', retryAfterS: 3, limit: null });
    expect(ring.find('model')).toMatchObject({ by: 'no replica serves the model', endpoint: null, atUs: 5 });
    expect(ring.find('forbidden')).toMatchObject({ by: 'its key may not use the model', key: 'k' });
    expect(ring.find('odd')).toMatchObject({ by: 'the request is too large' });
    expect(ring.find('wrong key')).toBeUndefined();
  });

  it('keeps a bounded number, and of one id the last', () => {
    const ring = new RefusalRing(3, EPOCH_US);
    expect(ring.find('q0')).toBeUndefined();
    for (let i = 0; i < 8; i++) ring.turnedAway(`q${i}`, modelUnknown('m'), '', i);
    expect([ring.size, ring.find('q4'), ring.find('q5')?.atUs]).toEqual([3, undefined, 5]);
    ring.refused(request('q7'), queueFull(1, 1));
    expect([ring.size, ring.find('q7')?.status]).toEqual([3, 429]);
    // Nothing of the earlier entry is left.
    ring.turnedAway('a', modelUnknown('m'), '', 9);
    ring.turnedAway('b', modelUnknown('m'), '', 9);
    ring.turnedAway('c', modelUnknown('m'), '', 9);
    expect(ring.find('c')).toMatchObject({ endpoint: null, key: null, retryAfterS: null, limit: null });
  });

  it('holds nothing from the client but the request id', () => {
    const ring = new RefusalRing(10, EPOCH_US);
    const planted = 'planted model';
    for (const error of [modelUnknown(planted), modelForbidden('key000000001', planted), noReplica(planted, 'down')]) {
      expect(error.message).toContain(planted);
      ring.refused(request('q'), error);
      expect(JSON.stringify(ring.find('q'))).not.toContain('planted');
    }
    ring.refused(request('q'), new ApiError('malformed', planted, planted));
    expect(JSON.stringify(ring.find('q'))).not.toContain('planted');
  });
});
