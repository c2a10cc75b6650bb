import { createHash, timingSafeEqual } from 'node:crypto';
import { AccessKey } from '../../src/gateway/access/access-key.js';
import { Account } from '../../src/gateway/access/account.js';
import { Authority } from '../../src/gateway/access/authority.js';
import { KeyRing } from '../../src/gateway/access/key-ring.js';
import { Ledger } from '../../src/gateway/access/ledger.js';
import type { Reserving } from '../../src/gateway/access/reservation.js';
import type { KeyRecord } from '../../src/store/key-record.js';
import { hashKeyText, makeKeyId, makeKeyText } from '../../src/store/key-text.js';
import { openStore } from '../../src/store/open-store.js';
import { BenchTable, best } from '../bench-table.js';

/**
 * What a request pays for its key at 10,000 keys, right or wrong, against a plain check with createHash; and for a reservation
 * in memory, booked on two accounts and settled.
 */
const KEYS = 10_000;
const CHECKS = 50_000;
const RUNS = 7;
const CHECK_BOUND_US = 5;
/** A wrong key is also counted by address. That, and nothing else, may show. */
const WRONG_BOUND = 1.5;
const NOW = Date.parse('2026-05-20T12:00:00Z');

function recordOf(id: string, text: string): KeyRecord {
  return {
    id,
    name: id,
    hash: hashKeyText(text),
    previousHash: null,
    previousUntil: null,
    hint: '',
    tenant: id,
    models: null,
    maxSloClass: null,
    role: 'none',
    limits: {},
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  };
}

const ids = Array.from({ length: KEYS }, makeKeyId);
const texts = ids.map(makeKeyText);
const records = ids.map((id, i) => recordOf(id, texts[i]!));
const headers = texts.map((text) => `Bearer ${text}`);
const addresses = Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);

const ring = new KeyRing({ version: async () => '1', list: async () => records }, 30);
await ring.refresh();

/** Microseconds per call, the best of several runs. */
function timed(run: (i: number) => unknown): number {
  const once = () => {
    const began = process.hrtime.bigint();
    for (let i = 0; i < CHECKS; i++) run(i);
    return Number(process.hrtime.bigint() - began) / 1000 / CHECKS;
  };
  return best(RUNS, once, (us) => us);
}

const check = (sent: readonly string[]) => (i: number) =>
  ring.check(sent[i % KEYS], undefined, addresses[i % addresses.length]!, NOW + i);

const digests = new Map(records.map(({ id, hash }) => [id, Buffer.from(hash, 'hex')]));
function plainCheck(i: number): boolean {
  const text = headers[i % KEYS]!.slice('Bearer '.length);
  const expected = digests.get(text.split('_')[1]!);
  return expected !== undefined && timingSafeEqual(createHash('sha256').update(text).digest(), expected);
}

const table = new BenchTable();
const us = (value: number) => `${value.toFixed(2)} us`;
timed(check(headers));
const right = timed(check(headers));
const plain = timed(plainCheck);
table.report(`right key, ${KEYS} keys`, us(right), `<= ${CHECK_BOUND_US} us`, right <= CHECK_BOUND_US);
table.report('plain check with createHash', us(plain), '', null);
table.report('right key against plain check', `${(right / plain).toFixed(2)} x`, '', null);

const WRONG = {
  'wrong secret': ids.map((id) => `Bearer ${makeKeyText(id)}`),
  'unknown id': Array.from({ length: KEYS }, () => `Bearer ${makeKeyText(makeKeyId())}`),
  'no key at all': Array.from({ length: KEYS }, (_, i) => `Bearer sk-${i}`),
  'a key of 8 KiB': Array.from({ length: KEYS }, (_, i) => `Bearer ${String(i).padEnd(8192, 'x')}`),
};
for (const [what, sent] of Object.entries(WRONG)) {
  const wrong = timed(check(sent));
  const ratio = `${(wrong / right).toFixed(2)} x`;
  table.report(what, us(wrong), `<= ${CHECK_BOUND_US} us`, wrong <= CHECK_BOUND_US);
  table.report(`${what} against right key`, ratio, `<= ${WRONG_BOUND} x`, wrong / right <= WRONG_BOUND);
}

const store = await openStore(':memory:');
const began = Date.now() - performance.now();
const nowMs = () => began + performance.now();
const authority = new Authority({ store, gatewayId: 'bench', nowMs });
await authority.beat();
const ledger = new Ledger(authority, {
  onStoreFailure: 'closed',
  nowMs,
  fault: (error) => {
    throw error;
  },
});
const limits = {
  requestsPerMinute: 1e9,
  tokensPerMinute: 1e12,
  concurrent: 10,
  tokensPerMonth: 1e15,
  dollarsPerDay: 1e6,
};
const keys = records.slice(0, 1000).map((record) => {
  const accounts = ['*', 'm'].map((scope): [string, Account] => [scope, new Account(record.id, scope, limits)]);
  return new AccessKey(record, new Map(accounts));
});
const settling: Reserving = { reserved: (reservation) => ledger.settle(reservation!, 300, 45_000) };
const booked = timed((i) => ledger.reserve(keys[i % keys.length]!, 'm', 400, 60_000, settling));
table.report('reserve and settle on two accounts', us(booked), '<= 2 us', booked <= 2);
await store.close();
table.print();
