import { Utf8Bytes } from '../text/utf8-bytes.js';

const BLOCK = 64;
/** Up to one block of padding, followed by the length. */
const text8 = new Utf8Bytes(2 * BLOCK);
const words = new Int32Array(16);
const SINES = Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));
const TURNS = Int32Array.of(7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21);
const state = new Int32Array(4);

/**
 * The first 16 hex digits of MD5 over a text's UTF-8 bytes, as an unsigned 64-bit number. MD5 spreads keys over a ring here
 * and protects nothing. Not the platform's: this allocates nothing, and works where a security policy forbids MD5.
 */
export function md5Head(text: string, out: Uint32Array): void {
  const length = text8.write(text);
  const { bytes } = text8;
  const end = (Math.floor((length + 8) / BLOCK) + 1) * BLOCK;
  bytes.fill(0, length, end);
  bytes[length] = 0x80;
  for (let i = 0, bits = length * 8; i < 8; i++, bits = Math.floor(bits / 256)) bytes[end - 8 + i] = bits % 256;

  state[0] = 0x67452301;
  state[1] = 0xefcdab89;
  state[2] = 0x98badcfe;
  state[3] = 0x10325476;
  for (let at = 0; at < end; at += BLOCK) digestBlock(bytes, at);
  out[0] = swapped(state[0]!);
  out[1] = swapped(state[1]!);
}

function digestBlock(bytes: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++) {
    const from = at + i * 4;
    words[i] = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24);
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    let mixed: number;
    let word: number;
    if (round === 0) {
      mixed = (b & c) | (~b & d);
      word = i;
    } else if (round === 1) {
      mixed = (d & b) | (~d & c);
      word = 5 * i + 1;
    } else if (round === 2) {
      mixed = b ^ c ^ d;
      word = 3 * i + 5;
    } else {
      mixed = c ^ (b | ~d);
      word = 7 * i;
    }
    const sum = (a + mixed + SINES[i]! + words[word & 15]!) | 0;
    const turn = TURNS[round * 4 + (i & 3)]!;
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
}

/** Swaps the bytes of a word: MD5 writes the lowest first, hex digits the highest first. */
function swapped(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}
