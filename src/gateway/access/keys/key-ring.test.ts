import * as crypto from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../protocol/errors.js';
import type { KeyRecord } from '../../../store/keys/key-record.js';
import { hashKeySecret, makeKeySecret } from '../../../store/keys/key-secret.js';
import type { KeyNews } from '../../../store/keys/keys.js';
import { madeKey } from '../key-record.fixture.js';
import { AccessKey } from './access-key.js';
import { KeyRing, type KeySource } from './key-ring.js';

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>();
  return { ...real, hash: vi.fn(real.hash), timingSafeEqual: vi.fn(real.timingSafeEqual) };
});

const NOW = 1_800_000_000_000;

/** Keys in a store, which may change: all of them at once, or one. */
class Source implements KeySource {
  /** How many keys were read. */
  reads = 0;
  #version = 0;
  #records: KeyRecord[] = [];
  readonly #removed: string[] = [];
  #changed: KeyRecord[] = [];
  #knows = true;

  set(...records: KeyRecord[]): void {
    this.#records = records;
    this.#version++;
    this.#knows = false;
  }

  change(record: KeyRecord): void {
    this.#changed = [record];
    this.#version++;
    this.#knows = true;
  }

  remove(id: string): void {
    this.#removed.push(id);
    this.#changed = [];
    this.#version++;
    this.#knows = true;
  }

  async news(since: string | null): Promise<KeyNews | null> {
    const version = String(this.#version);
    if (since === version) return null;
    const isAll = since === null || !this.#knows;
    const keys = isAll ? this.#records : this.#changed;
    this.reads += keys.length;
    return { version, isAll, keys, removed: this.#removed.splice(0) };
  }
}

async function ringOf(...records: KeyRecord[]): Promise<KeyRing> {
  const source = new Source();
  source.set(...records);
  const ring = new KeyRing(source, 3);
  await ring.refresh();
  return ring;
}

const status = (response: AccessKey | ApiError) => (response instanceof ApiError ? response.status : response.id);

describe('a key ring', () => {
  it('accepts its keys, in either header and with the scheme in any case', async () => {
    const { record, text } = madeKey();
    const ring = await ringOf(record, madeKey().record);
    const found = ring.check(`Bearer ${text}`, undefined, '10.0.0.1', NOW);
    expect(found).toBeInstanceOf(AccessKey);
    expect(found).toMatchObject({ id: record.id, tenant: 'a tenant', role: 'none' });
    expect(ring.size).toBe(2);
    for (const authorization of [`bearer ${text}`, `BEARER  ${text} `]) {
      expect(status(ring.check(authorization, undefined, '10.0.0.1', NOW))).toBe(record.id);
    }
    expect(status(ring.check(undefined, text, '10.0.0.1', NOW))).toBe(record.id);
    expect(status(ring.check('Basic YTpi', ` ${text}`, '10.0.0.1', NOW))).toBe(record.id);
    expect(ring.wrong).toBe(0);
  });

  it('requires a key, and does not count a missing one as wrong', async () => {
    const ring = await ringOf(madeKey().record);
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi']) {
      const response = ring.check(authorization, undefined, '10.0.0.1', NOW) as ApiError;
      expect([response.status, response.message]).toEqual([401, expect.stringContaining('No key was sent')]);
    }
    expect([ring.wrong, ring.wrongKeys.size]).toEqual([0, 0]);
  });

  it('refuses every other text, and does not repeat it', async () => {
    const { record, text } = madeKey();
    const ring = await ringOf(record);
    const last = text.at(-1) === 'A' ? 'B' : 'A';
    const wrong = [
      text.slice(0, -1) + last,
      makeKeySecret(record.id),
      madeKey().text,
      `xx${text.slice(2)}`,
      text.toUpperCase(),
      `${text}a`,
      text.slice(0, -1),
      'sk-1234',
      'é'.repeat(59),
      'x'.repeat(60_000),
      '0'.repeat(59),
    ];
    for (const [i, one] of wrong.entries()) {
      const response = ring.check(`Bearer ${one}`, undefined, `10.0.0.${i}`, NOW) as ApiError;
      expect(response.status, one.slice(0, 80)).toBe(401);
      expect(response.message).not.toContain(one.slice(0, 20));
    }
    expect(ring.wrong).toBe(wrong.length);
  });

  it('hashes one text of the length of a key for any input, and compares all wrong keys equally far', async () => {
    const { record, text } = madeKey();
    const rotated = madeKey({ previousHash: hashKeySecret('before'), previousUntil: NOW + 1 });
    const ring = await ringOf(record, rotated.record);
    const [hash, compare] = [vi.mocked(crypto.hash), vi.mocked(crypto.timingSafeEqual)];
    const work = (sent: string) => {
      hash.mockClear();
      compare.mockClear();
      ring.check(undefined, sent, '10.0.0.1', NOW);
      return {
        lengths: hash.mock.calls.map(([, hashed]) => String(hashed).length),
        compared: compare.mock.calls.length,
      };
    };
    const wrong = [
      makeKeySecret(record.id),
      makeKeySecret(rotated.record.id),
      madeKey().text,
      'sk-1234',
      'x'.repeat(60_000),
    ];
    for (const sent of wrong) expect(work(sent)).toEqual({ lengths: [59], compared: 0 });
    expect(work(text)).toEqual({ lengths: [59], compared: 2 });
  });

  it('refuses a text whose digest only begins like that of the key', async () => {
    const { record, text } = madeKey();
    const flipped = record.hash.endsWith('0') ? '1' : '0';
    const similar = `${record.hash.slice(0, -1)}${flipped}`;
    const ring = await ringOf({ ...record, hash: similar, previousHash: similar, previousUntil: NOW + 1 });
    expect(status(ring.check(undefined, text, '', NOW))).toBe(401);
  });

  it('accepts the secret from before a rotation during its grace period', async () => {
    const { record, text } = madeKey();
    const rotated = makeKeySecret(record.id);
    const ring = await ringOf({
      ...record,
      hash: hashKeySecret(rotated),
      previousHash: record.hash,
      previousUntil: NOW,
    });
    expect(status(ring.check(undefined, rotated, '', NOW))).toBe(record.id);
    expect(status(ring.check(undefined, text, '', NOW - 1))).toBe(record.id);
    expect(status(ring.check(undefined, text, '', NOW))).toBe(401);
  });

  it('reports that a key has expired or was revoked, and does not count it as wrong', async () => {
    const [expired, revoked] = [madeKey({ expiresAt: NOW }), madeKey({ revokedAt: NOW - 5 })];
    const ring = await ringOf(expired.record, revoked.record);
    expect(status(ring.check(undefined, expired.text, '', NOW - 1))).toBe(expired.record.id);
    for (const [{ record, text }, word] of [
      [expired, 'expired'],
      [revoked, 'revoked'],
    ] as const) {
      const response = ring.check(undefined, text, '', NOW) as ApiError;
      expect([response.status, response.message]).toEqual([401, expect.stringMatching(`${record.id} has .*${word}`)]);
      expect(response.message).not.toContain(text);
    }
    expect(ring.wrong).toBe(0);
  });

  it('rate-limits an address with many wrong keys, but accepts a valid one', async () => {
    const { record, text } = madeKey();
    const ring = await ringOf(record);
    const guess = () => ring.check('Bearer guess', undefined, '10.0.0.1', NOW + 500) as ApiError;
    expect([guess(), guess(), guess()].map(status)).toEqual([401, 401, 401]);
    expect([guess().status, guess().retryAfterS]).toEqual([429, 60]);
    expect(status(ring.check(undefined, text, '10.0.0.1', NOW + 600))).toBe(record.id);
    expect(status(ring.check(undefined, 'guess', '10.0.0.2', NOW + 600))).toBe(401);
    expect(status(ring.check(undefined, 'guess', '10.0.0.1', NOW + 60_500))).toBe(401);
    expect([ring.wrong, ring.wrongLimited]).toEqual([7, 2]);
  });

  it('reads only what has changed', async () => {
    const source = new Source();
    const prepared: boolean[] = [];
    const ring = new KeyRing(source, 3, async ({ isAll, keys }) => {
      prepared.push(isAll);
      return keys.map((record) => new AccessKey(record));
    });
    const [one, other] = [madeKey(), madeKey()];
    await ring.refresh();
    await ring.refresh();
    expect([ring.size, source.reads, prepared]).toEqual([0, 0, [true]]);
    source.set(one.record, other.record);
    await Promise.all([ring.refresh(), ring.refresh()]);
    expect([ring.size, source.reads, prepared]).toEqual([2, 2, [true, true]]);
    source.change({ ...one.record, revokedAt: NOW });
    await ring.refresh();
    expect([ring.size, source.reads, prepared]).toEqual([2, 3, [true, true, false]]);
    expect(status(ring.check(undefined, one.text, '', NOW))).toBe(401);
    expect(status(ring.check(undefined, other.text, '', NOW))).toBe(other.record.id);
    expect([ring.find(other.record.id)?.record, ring.find('nobody')]).toEqual([other.record, undefined]);
    const third = madeKey();
    source.change(third.record);
    await ring.refresh();
    expect([ring.size, status(ring.check(undefined, third.text, '', NOW))]).toEqual([3, third.record.id]);
    source.remove(third.record.id);
    await ring.refresh();
    expect([ring.size, status(ring.check(undefined, third.text, '', NOW))]).toEqual([2, 401]);
    source.set(third.record);
    await ring.refresh();
    expect([ring.size, status(ring.check(undefined, other.text, '', NOW))]).toEqual([1, 401]);
  });

  it('keeps the keys it has while the store fails, and tries again', async () => {
    const source = new Source();
    const { record, text } = madeKey();
    source.set(record);
    let fails = false;
    const ring = new KeyRing(source, 3, async ({ keys }) => {
      if (fails) throw new Error('gone');
      return keys.map((one) => new AccessKey(one));
    });
    await ring.refresh();
    fails = true;
    source.set();
    await expect(ring.refresh()).rejects.toThrow('gone');
    expect(status(ring.check(undefined, text, '', NOW))).toBe(record.id);
    fails = false;
    await ring.refresh();
    expect(ring.size).toBe(0);
  });
});
