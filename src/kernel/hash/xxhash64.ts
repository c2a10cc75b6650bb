import { Utf8Bytes } from '../text/utf8-bytes.js';

const text8 = new Utf8Bytes(0);

/** A 64-bit number as two signed words: arithmetic on them needs no big integers, which would be allocated. */
interface Word64 {
  hi: number;
  lo: number;
}

const PRIME_1: Word64 = { hi: 0x9e3779b1 | 0, lo: 0x85ebca87 | 0 };
const PRIME_2: Word64 = { hi: 0xc2b2ae3d | 0, lo: 0x27d4eb4f | 0 };
const PRIME_3: Word64 = { hi: 0x165667b1 | 0, lo: 0x9e3779f9 | 0 };
const PRIME_4: Word64 = { hi: 0x85ebca77 | 0, lo: 0xc2b2ae63 | 0 };
const PRIME_5: Word64 = { hi: 0x27d4eb2f | 0, lo: 0x165667c5 | 0 };
const ZERO: Word64 = { hi: 0, lo: 0 };

const hash: Word64 = { hi: 0, lo: 0 };
const lane: Word64 = { hi: 0, lo: 0 };
const read: Word64 = { hi: 0, lo: 0 };
const lanes: readonly Word64[] = Array.from({ length: 4 }, () => ({ hi: 0, lo: 0 }));
const LANE_TURNS = [1, 7, 12, 18] as const;

/** XXH64 with seed 0 over a text's UTF-8 bytes. */
export function xxhash64(text: string, out: Uint32Array): void {
  const length = text8.write(text);
  const { bytes } = text8;
  let at = 0;
  if (length >= 32) {
    at = readStripes(bytes, length);
  } else {
    set(hash, PRIME_5);
  }
  read.hi = 0;
  read.lo = length;
  add(hash, read);
  readTail(bytes, at, length);
  finish();
  out[0] = hash.hi;
  out[1] = hash.lo;
}

/** Four lanes take 8 bytes each at a time; where the rest begins. */
function readStripes(bytes: Uint8Array, length: number): number {
  set(lanes[0]!, PRIME_1);
  add(lanes[0]!, PRIME_2);
  set(lanes[1]!, PRIME_2);
  set(lanes[2]!, ZERO);
  set(lanes[3]!, ZERO);
  subtract(lanes[3]!, PRIME_1);
  let at = 0;
  for (; at + 32 <= length; at += 32) {
    for (let i = 0; i < 4; i++) {
      read64(bytes, at + i * 8, read);
      takeIn(lanes[i]!, read);
    }
  }
  set(hash, ZERO);
  for (let i = 0; i < 4; i++) {
    set(lane, lanes[i]!);
    rotate(lane, LANE_TURNS[i]!);
    add(hash, lane);
  }
  for (let i = 0; i < 4; i++) {
    set(lane, ZERO);
    takeIn(lane, lanes[i]!);
    exclude(hash, lane);
    multiply(hash, PRIME_1);
    add(hash, PRIME_4);
  }
  return at;
}

function readTail(bytes: Uint8Array, from: number, length: number): void {
  let at = from;
  for (; at + 8 <= length; at += 8) {
    read64(bytes, at, read);
    set(lane, ZERO);
    takeIn(lane, read);
    exclude(hash, lane);
    rotate(hash, 27);
    multiply(hash, PRIME_1);
    add(hash, PRIME_4);
  }
  if (at + 4 <= length) {
    lane.hi = 0;
    lane.lo = read32(bytes, at);
    multiply(lane, PRIME_1);
    exclude(hash, lane);
    rotate(hash, 23);
    multiply(hash, PRIME_2);
    add(hash, PRIME_3);
    at += 4;
  }
  for (; at < length; at++) {
    lane.hi = 0;
    lane.lo = bytes[at]!;
    multiply(lane, PRIME_5);
    exclude(hash, lane);
    rotate(hash, 11);
    multiply(hash, PRIME_1);
  }
}

/** Lets every bit of the input reach every bit of the hash. */
function finish(): void {
  shiftIn(hash, 33);
  multiply(hash, PRIME_2);
  shiftIn(hash, 29);
  multiply(hash, PRIME_3);
  shiftIn(hash, 32);
}

function takeIn(into: Word64, value: Word64): void {
  const { hi, lo } = into;
  set(into, value);
  multiply(into, PRIME_2);
  const sum = (into.lo >>> 0) + (lo >>> 0);
  into.hi = (into.hi + hi + (sum > 0xffffffff ? 1 : 0)) | 0;
  into.lo = sum | 0;
  rotate(into, 31);
  multiply(into, PRIME_1);
}

function read32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function read64(bytes: Uint8Array, at: number, into: Word64): void {
  into.lo = read32(bytes, at);
  into.hi = read32(bytes, at + 4);
}

function set(into: Word64, value: Word64): void {
  into.hi = value.hi;
  into.lo = value.lo;
}

function add(into: Word64, value: Word64): void {
  const sum = (into.lo >>> 0) + (value.lo >>> 0);
  into.hi = (into.hi + value.hi + (sum > 0xffffffff ? 1 : 0)) | 0;
  into.lo = sum | 0;
}

function subtract(into: Word64, value: Word64): void {
  const difference = (into.lo >>> 0) - (value.lo >>> 0);
  into.hi = (into.hi - value.hi - (difference < 0 ? 1 : 0)) | 0;
  into.lo = difference | 0;
}

function exclude(into: Word64, value: Word64): void {
  into.hi ^= value.hi;
  into.lo ^= value.lo;
}

/** By less than 32 bits. */
function rotate(into: Word64, bits: number): void {
  const { hi, lo } = into;
  into.hi = (hi << bits) | (lo >>> (32 - bits));
  into.lo = (lo << bits) | (hi >>> (32 - bits));
}

/** into ^= into >>> bits */
function shiftIn(into: Word64, bits: number): void {
  const { hi, lo } = into;
  if (bits >= 32) {
    into.lo = lo ^ (hi >>> (bits - 32));
  } else {
    into.lo = lo ^ ((lo >>> bits) | (hi << (32 - bits)));
    into.hi = hi ^ (hi >>> bits);
  }
}

/** Modulo 2^64, by halves of words so that no product exceeds 2^53. */
function multiply(into: Word64, by: Word64): void {
  const { hi, lo } = into;
  const a0 = lo & 0xffff;
  const a1 = lo >>> 16;
  const b0 = by.lo & 0xffff;
  const b1 = by.lo >>> 16;
  const low = a0 * b0;
  const cross1 = a0 * b1;
  const cross2 = a1 * b0;
  const middle = (low >>> 16) + (cross1 & 0xffff) + (cross2 & 0xffff);
  const carried = a1 * b1 + (cross1 >>> 16) + (cross2 >>> 16) + (middle >>> 16);
  into.lo = (middle << 16) | (low & 0xffff);
  into.hi = (carried + Math.imul(hi, by.lo) + Math.imul(lo, by.hi)) | 0;
}
