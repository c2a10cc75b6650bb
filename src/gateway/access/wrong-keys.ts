import { isIPv6 } from 'node:net';

const WINDOW_MS = 60_000;

/** Who has sent wrong keys lately, by address. However many addresses there are, only so many are remembered. */
export class WrongKeys {
  /** In the order in which their minute began. */
  readonly #minutes = new Map<string, { beganMs: number; count: number }>();
  readonly #mostAddresses: number;
  mostPerMinute: number;

  constructor(mostPerMinute: number, mostAddresses = 10_000) {
    this.mostPerMinute = mostPerMinute;
    this.#mostAddresses = mostAddresses;
  }

  get size(): number {
    return this.#minutes.size;
  }

  /** Counts one. Returns in how many seconds the address may send another; 0 if it still may. */
  count(address: string, nowMs: number): number {
    const source = sourceOf(address);
    let minute = this.#minutes.get(source);
    if (minute === undefined || nowMs - minute.beganMs >= WINDOW_MS || nowMs < minute.beganMs) {
      this.#minutes.delete(source);
      if (this.#minutes.size >= this.#mostAddresses) this.#minutes.delete(this.#minutes.keys().next().value!);
      minute = { beganMs: nowMs, count: 0 };
      this.#minutes.set(source, minute);
    }
    minute.count++;
    if (minute.count <= this.mostPerMinute) return 0;
    return Math.ceil((minute.beganMs + WINDOW_MS - nowMs) / 1000);
  }
}

/** Whoever has one IPv6 address has 2^64 of them: the network counts, its first four groups. */
export function sourceOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  const [head = '', tail] = address.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}
