import type { Hash64 } from '../../../kernel/hash/hash64.js';
import type { FleetView } from '../../fleet-view.js';
import type { PickState } from '../../pick-state.js';

/**
 * Consistent hashing: every replica has many points on a ring of 64-bit numbers, and a key belongs to the replica of the
 * first point at or after its hash. When a replica joins or leaves, only the keys of its points move. Points depend on the
 * replicas' ids alone, so every router has the same ring. It is rebuilt when the fleet changes.
 */
export class HashRing {
  readonly #hash: Hash64;
  readonly #pointsPerReplica: number;
  readonly #pointName: (id: string, point: number) => string;
  #ids: readonly string[] = [];

  // By point, in order of the ring.
  #upper = new Uint32Array(0);
  #lower = new Uint32Array(0);
  #slot = new Int32Array(0);

  // The walk.
  readonly #key = new Uint32Array(2);
  /** Walks start at the restored key, whatever text is given. */
  #isRestored = false;
  #start = 0;
  #steps = 0;
  #walk = 0;
  /** By slot: the last walk that passed the replica. */
  #met = new Float64Array(0);

  constructor(hash: Hash64, pointsPerReplica: number, pointName: (id: string, point: number) => string) {
    this.#hash = hash;
    this.#pointsPerReplica = pointsPerReplica;
    this.#pointName = pointName;
  }

  /** The key's home: the first eligible replica at or after its hash, -1 when there is none. Starts a walk. */
  home(view: FleetView, key: string): number {
    if (view.ids !== this.#ids) this.#build(view.ids);
    if (!this.#isRestored) this.#hash(key, this.#key);
    this.#start = this.#seek();
    this.#steps = 0;
    this.#walk++;
    return this.next(view);
  }

  /** The next eligible replica that the walk has not passed yet, -1 when it has passed all. */
  next(view: FleetView): number {
    const points = this.#slot.length;
    while (this.#steps < points) {
      const point = this.#start + this.#steps++;
      const slot = this.#slot[point < points ? point : point - points]!;
      if (this.#met[slot] === this.#walk) continue;
      this.#met[slot] = this.#walk;
      if (slot < view.size && view.eligible[slot] !== 0) return slot;
    }
    return -1;
  }

  /** The hash of the last key: a walk can be repeated without the key. */
  save({ numbers }: PickState): void {
    numbers[0] = this.#key[0]!;
    numbers[1] = this.#key[1]!;
  }

  restore({ numbers }: PickState): void {
    this.#key[0] = numbers[0]!;
    this.#key[1] = numbers[1]!;
    this.#isRestored = true;
  }

  /** The first point at or after the key; after the last point comes the first. */
  #seek(): number {
    const upper = this.#key[0]!;
    const lower = this.#key[1]!;
    let from = 0;
    let to = this.#slot.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const above = this.#upper[middle]!;
      if (above < upper || (above === upper && this.#lower[middle]! < lower)) from = middle + 1;
      else to = middle;
    }
    return from === this.#slot.length ? 0 : from;
  }

  #build(ids: readonly string[]): void {
    const perReplica = this.#pointsPerReplica;
    const points = ids.length * perReplica;
    const upper = new Uint32Array(points);
    const lower = new Uint32Array(points);
    const order = new Uint32Array(points);
    const hash = new Uint32Array(2);
    for (let point = 0; point < points; point++) {
      this.#hash(this.#pointName(ids[Math.floor(point / perReplica)]!, point % perReplica), hash);
      upper[point] = hash[0]!;
      lower[point] = hash[1]!;
      order[point] = point;
    }
    order.sort((a, b) => upper[a]! - upper[b]! || lower[a]! - lower[b]! || a - b);
    this.#upper = upper.map((_, i) => upper[order[i]!]!);
    this.#lower = lower.map((_, i) => lower[order[i]!]!);
    this.#slot = Int32Array.from(order, (point) => Math.floor(point / perReplica));
    this.#met = new Float64Array(ids.length);
    this.#ids = ids;
  }
}
