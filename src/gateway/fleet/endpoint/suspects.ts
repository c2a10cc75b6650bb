import { createHash } from 'node:crypto';

/** How long a request that has failed is under suspicion. */
const SUSPECTED_MS = 60_000;
const MOST = 256;

interface Suspect {
  /** Where it failed first; null: it is poison, and counts against no replica. */
  readonly replica: string | null;
  readonly atMs: number;
  readonly length: number;
}

/**
 * Requests that replicas have failed, by a hash of their bytes. A failure on a second replica does not count against
 * that replica: the request itself may crash any replica, and retries of one such request must not remove the whole
 * fleet. A request that drew 500 from two replicas is poison: it is not tried again, and counts against none.
 */
export class Suspects {
  /** The oldest first. */
  readonly #failed = new Map<string, Suspect>();
  /** How many have this length: a request of another length need not be hashed. */
  readonly #lengths = new Map<number, number>();

  get size(): number {
    return this.#failed.size;
  }

  /** Whether this failure counts against the replica. */
  blames(bytes: Buffer, replica: string, nowMs: number): boolean {
    const key = keyOf(bytes);
    const before = this.#failed.get(key);
    const isKnown = before !== undefined && nowMs - before.atMs < SUSPECTED_MS;
    this.#put(key, { replica: isKnown ? before.replica : replica, atMs: nowMs, length: bytes.length });
    return !isKnown || before.replica === replica;
  }

  /** Two replicas returned 500 for it. */
  condemn(bytes: Buffer, nowMs: number): void {
    this.#put(keyOf(bytes), { replica: null, atMs: nowMs, length: bytes.length });
  }

  /** Whether two replicas have returned 500 for it recently. */
  isPoison(bytes: Buffer, nowMs: number): boolean {
    if (!this.#lengths.has(bytes.length)) return false;
    const before = this.#failed.get(keyOf(bytes));
    return before !== undefined && before.replica === null && nowMs - before.atMs < SUSPECTED_MS;
  }

  /** A replica has served it: nothing is wrong with it. */
  clear(bytes: Buffer): void {
    if (this.#lengths.has(bytes.length)) this.#remove(keyOf(bytes));
  }

  #put(key: string, suspect: Suspect): void {
    this.#remove(key);
    this.#failed.set(key, suspect);
    this.#lengths.set(suspect.length, (this.#lengths.get(suspect.length) ?? 0) + 1);
    if (this.#failed.size > MOST) this.#remove(this.#failed.keys().next().value!);
  }

  #remove(key: string): void {
    const suspect = this.#failed.get(key);
    if (suspect === undefined) return;
    this.#failed.delete(key);
    const others = this.#lengths.get(suspect.length)! - 1;
    if (others > 0) this.#lengths.set(suspect.length, others);
    else this.#lengths.delete(suspect.length);
  }
}

function keyOf(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('base64');
}
