import { createHash, timingSafeEqual } from 'node:crypto';
import { KeyRing } from '../../src/gateway/access/keys/key-ring.js';
import { makeKeySecret } from '../../src/store/keys/key-secret.js';
import { makeUid } from '../../src/store/resources/make-uid.js';
import type { BenchTable } from '../bench-table.js';
import { ids, KEYS, records, texts } from './bench-keys.js';
import { median, us, usPerCall } from './measure.js';

/** Few enough that most rounds finish without an interruption by other processes. */
const CHECKS = 1000;
const ROUNDS = 601;
const WARM_UP = 20;
const MOST_US = 5;
/** A wrong key costs no more than a valid one. */
const MOST_WRONG = 1;
/** Checks that the time of a lookup does not reveal whether a key id exists, as far as that can be measured. */
const MOST_APART = 0.1;
const NOW = Date.parse('2026-05-20T12:00:00Z');

const four = Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
const six = Array.from({ length: 1000 }, (_, i) => `2001:db8:0:${i.toString(16)}:1:2:3:4`);

interface Sent {
  what: string;
  headers: readonly string[];
  addresses: readonly string[];
}

const bearer = (list: readonly string[]) => list.map((text) => `Bearer ${text}`);
const all = (make: (i: number) => string) => bearer(Array.from({ length: KEYS }, (_, i) => make(i)));

const RIGHT: Sent = { what: `right key, ${KEYS} keys`, headers: bearer(texts), addresses: four };
const WRONG: readonly Sent[] = [
  { what: 'wrong secret', headers: bearer(ids.map(makeKeySecret)), addresses: four },
  { what: 'unknown id', headers: all(() => makeKeySecret(makeUid())), addresses: four },
  { what: 'no key at all', headers: all((i) => `sk-${i}`), addresses: four },
  { what: 'a key of 8 KiB', headers: all((i) => String(i).padEnd(8192, 'x')), addresses: four },
  { what: 'wrong secret, by IPv6', headers: bearer(ids.map(makeKeySecret)), addresses: six },
];

/**
 * The cost of checking a key, valid or wrong, against a plain check with createHash. All are measured in turn, round
 * after round, so that other load affects all of them; the median ratio counts.
 */
export async function keyChecks(table: BenchTable): Promise<void> {
  const ring = new KeyRing({ news: async () => ({ version: '1', isAll: true, keys: records, removed: [] }) }, 30);
  await ring.refresh();
  const checked = ({ addresses, headers }: Sent, round: number) =>
    usPerCall(round * CHECKS, CHECKS, (i) =>
      ring.check(headers[i % KEYS], undefined, addresses[i % addresses.length]!, NOW + i),
    );
  const kinds = [RIGHT, ...WRONG];
  for (let round = 0; round < WARM_UP; round++) for (const kind of kinds) checked(kind, round);
  const times = kinds.map((): number[] => []);
  const plain: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Shuffled, so that no case always follows the same other one and profits from the processor cache it warmed.
    for (let k = 0; k < kinds.length; k++) {
      const at = (k + round) % kinds.length;
      times[at]!.push(checked(kinds[at]!, round * kinds.length + k));
    }
    plain.push(usPerCall(round * CHECKS, CHECKS, plainCheck));
  }
  const ratio = (of: readonly number[], to: readonly number[]) => median(of.map((value, i) => value / to[i]!));
  const [right, ...wrong] = times as [number[], ...number[][]];
  table.report(RIGHT.what, us(median(right)), `<= ${MOST_US} us`, median(right) <= MOST_US);
  table.report('right key against plain check with createHash', `${ratio(right, plain).toFixed(2)} x`, '', null);
  for (const [i, { what }] of WRONG.entries()) {
    const cost = median(wrong[i]!);
    const share = ratio(wrong[i]!, right);
    table.report(what, us(cost), `<= ${MOST_US} us`, cost <= MOST_US);
    table.report(`${what} against right key`, `${share.toFixed(3)} x`, `<= ${MOST_WRONG} x`, share <= MOST_WRONG);
  }
  const apart = ratio(wrong[1]!, wrong[0]!);
  const bound = `${1 - MOST_APART} to ${1 + MOST_APART} x`;
  table.report('unknown id against wrong secret', `${apart.toFixed(3)} x`, bound, Math.abs(apart - 1) <= MOST_APART);
}

const digests = new Map(records.map(({ id, hash }) => [id, Buffer.from(hash, 'hex')]));

function plainCheck(i: number): boolean {
  const text = RIGHT.headers[i % KEYS]!.slice('Bearer '.length);
  const expected = digests.get(text.split('_')[1]!);
  return expected !== undefined && timingSafeEqual(createHash('sha256').update(text).digest(), expected);
}
