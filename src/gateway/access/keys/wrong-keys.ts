import { isIPv6 } from 'node:net';

const WINDOW_MS = 60_000;

/** The wrong keys of one source since `beganMs`. */
interface Minute {
  readonly source: string;
  beganMs: number;
  count: number;
  /** Whether it is remembered: it may have been evicted. */
  isKept: boolean;
}

/**
 * Recent wrong keys, by client address; a bounded number of addresses is remembered. Another wrong key costs one
 * lookup: less than a valid key takes beyond a wrong one.
 */
export class WrongKeys {
  /** By source, in the order in which their minute began. */
  readonly #minutes = new Map<string, Minute>();
  /**
   * The same by address, so that an address is parsed once: all addresses of an IPv6 network share an entry. Cleared
   * when it is full.
   */
  readonly #byAddress = new Map<string, Minute>();
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
    let minute = this.#byAddress.get(address);
    if (minute === undefined || !minute.isKept) minute = this.#minuteOf(address, nowMs);
    if (nowMs - minute.beganMs >= WINDOW_MS || nowMs < minute.beganMs) this.#beginAnew(minute, nowMs);
    minute.count++;
    if (minute.count <= this.mostPerMinute) return 0;
    return Math.ceil((minute.beganMs + WINDOW_MS - nowMs) / 1000);
  }

  #minuteOf(address: string, nowMs: number): Minute {
    const source = sourceOf(address);
    let minute = this.#minutes.get(source);
    if (minute === undefined) {
      if (this.#minutes.size >= this.#mostAddresses) this.#forgetOldest();
      minute = { source, beganMs: nowMs, count: 0, isKept: true };
      this.#minutes.set(source, minute);
    }
    if (this.#byAddress.size >= this.#mostAddresses) this.#byAddress.clear();
    this.#byAddress.set(address, minute);
    return minute;
  }

  #beginAnew(minute: Minute, nowMs: number): void {
    minute.beganMs = nowMs;
    minute.count = 0;
    this.#minutes.delete(minute.source);
    this.#minutes.set(minute.source, minute);
  }

  #forgetOldest(): void {
    const [source, oldest] = this.#minutes.entries().next().value!;
    oldest.isKept = false;
    this.#minutes.delete(source);
  }
}

/** A client with one IPv6 address has 2^64 of them: the network counts, its first four groups. */
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
