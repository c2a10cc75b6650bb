import { NONE } from '../../../kernel/recency-lists.js';
import { rearrange } from '../../rearrange.js';

/** Shares per replica: one for requests without a tenant; tenants beyond the others have a share together. */
export const SHARES = 16;

/** The share of a tenant by its number, -1 for none. */
export function shareOf(tenant: number): number {
  return tenant < 0 ? 0 : 1 + (tenant % (SHARES - 1));
}

/**
 * How many blocks replicas hold for which tenant. The blocks of a replica for a share are a list, with the number
 * `replica * SHARES + share`.
 *
 * A replica that holds too many drops blocks of a tenant that has more than an equal part of it, the one that sends
 * first: no tenant can displace what others hold within theirs. One tenant alone has everything.
 */
export class TenantShares {
  /** How many blocks the list that `crowded` returned has too many, at least 1. */
  surplus = 0;
  readonly #capacity: number;
  // By list.
  readonly #heldBy: Int32Array;
  // By replica: blocks, and shares that have some.
  readonly #held: Int32Array;
  readonly #sharing: Int32Array;

  /** @param capacity blocks of each replica */
  constructor(replicas: number, capacity: number) {
    this.#capacity = capacity;
    this.#heldBy = new Int32Array(replicas * SHARES);
    this.#held = new Int32Array(replicas);
    this.#sharing = new Int32Array(replicas);
  }

  get replicas(): number {
    return this.#held.length;
  }

  held(replica: number): number {
    return this.#held[replica]!;
  }

  add(list: number, blocks: number): void {
    const replica = Math.floor(list / SHARES);
    if (this.#heldBy[list] === 0) this.#sharing[replica]!++;
    this.#heldBy[list]! += blocks;
    this.#held[replica]! += blocks;
  }

  release(list: number, blocks: number): void {
    const replica = Math.floor(list / SHARES);
    this.#heldBy[list]! -= blocks;
    this.#held[replica]! -= blocks;
    if (this.#heldBy[list] === 0) this.#sharing[replica]!--;
  }

  /** The list to drop from: that of the sender where it is more than an equal part, else the longest. Sets `surplus`. */
  crowded(replica: number, sender: number): number {
    const first = replica * SHARES;
    const equal = Math.max(1, Math.floor(this.#capacity / this.#sharing[replica]!));
    this.surplus = this.#heldBy[first + sender]! - equal;
    if (this.surplus > 0) return first + sender;
    let longest = first;
    let second = 0;
    for (let list = first + 1; list < first + SHARES; list++) {
      const blocks = this.#heldBy[list]!;
      if (blocks <= this.#heldBy[longest]!) second = Math.max(second, blocks);
      else {
        second = this.#heldBy[longest]!;
        longest = list;
      }
    }
    // Of lists of the same length each in turn.
    this.surplus = Math.max(1, this.#heldBy[longest]! - second);
    return longest;
  }

  /** As `PrefixIndex.rearrange`. Returns the former list of each list, `NONE` for new ones. */
  rearrange(from: Int32Array): Int32Array {
    const lists = new Int32Array(from.length * SHARES);
    for (let i = 0; i < lists.length; i++) {
      const before = from[Math.floor(i / SHARES)]!;
      lists[i] = before < 0 ? NONE : before * SHARES + (i % SHARES);
    }
    rearrange(this.#heldBy, lists);
    rearrange(this.#held, from);
    rearrange(this.#sharing, from);
    return lists;
  }
}
