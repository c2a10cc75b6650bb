import { createHash } from 'node:crypto';
import type { RequestBody } from '../../../policy/request-features.js';

/** How long a request that has failed is under suspicion. */
const SUSPECTED_MS = 60_000;
const MOST = 256;

/**
 * Requests that replicas have failed. A failure on a second replica does not count against that replica: the request
 * itself may crash any replica, and retries of one such request must not remove the whole fleet.
 */
export class Suspects {
  /** By content: where they failed first, and when last. The oldest first. */
  readonly #failed = new Map<string, { replica: string; atMs: number }>();

  get size(): number {
    return this.#failed.size;
  }

  /** Whether this failure counts against the replica. */
  blames(body: RequestBody, replica: string, nowMs: number): boolean {
    const key = keyOf(body);
    const before = this.#failed.get(key);
    const isKnown = before !== undefined && nowMs - before.atMs < SUSPECTED_MS;
    this.#failed.delete(key);
    this.#failed.set(key, { replica: isKnown ? before.replica : replica, atMs: nowMs });
    if (this.#failed.size > MOST) this.#failed.delete(this.#failed.keys().next().value!);
    return !isKnown || before.replica === replica;
  }

  /** A replica has served it: nothing is wrong with it. */
  clear(body: RequestBody): void {
    this.#failed.delete(keyOf(body));
  }
}

function keyOf(body: RequestBody): string {
  return createHash('sha1').update(JSON.stringify(body)).digest('base64');
}
