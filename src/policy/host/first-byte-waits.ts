import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { FirstByteTimes } from './first-byte-times.js';

/** What a request needs before its first byte. */
export interface AwaitedWork {
  /** A small number; each kind is learned separately. */
  kind: number;
  /** What takes time, including requests ahead of it: in any unit, the same for all of a kind. */
  size: number;
  /** The first byte does not wait for the whole response. Other work is not judged before it is learned. */
  isStreamed: boolean;
  /** Replicas that it has left before. */
  attempt: number;
}

/** A first byte is late after this many times the 95th percentile. */
const PATIENCE = 6;
/** A request that was late elsewhere is probably slow itself: the next replica has this many times as long. */
const MORE_PATIENCE = 4;
/** The least time that a replica without a first byte so far has, and all of them while nothing is learned. */
const UNKNOWN_US = 10_000_000;
const NO_REPLICA = -1;

/**
 * Requests that wait for their first byte, by number, and how long each may: a multiple of the time that was learned for its kind of
 * work and size, between floor and ceiling.
 */
export class FirstByteWaits {
  floorUs = 3_000_000;
  ceilingUs = 300_000_000;
  /** Request numbers are smaller. */
  most = 0;
  /** Where a request waits, -1 for one that does not. */
  replicaOf = new Int32Array(0);
  sentUs = new Float64Array(0);
  /** Infinity: it may wait for any time. */
  patienceUs = new Float64Array(0);
  /** 1 where such requests have been observed before. */
  isLearned = new Uint8Array(0);
  readonly #times = new FirstByteTimes();
  #kind = new Int32Array(0);
  #size = new Float64Array(0);

  /** @param isNew its replica has not sent a first byte so far */
  begin(request: number, replica: number, isNew: boolean, work: AwaitedWork, nowUs: number): void {
    this.#reserve(request);
    const { attempt, isStreamed, kind, size } = work;
    const expectedUs = this.#times.expectedUs(kind, size);
    const isLearned = !Number.isNaN(expectedUs);
    this.replicaOf[request] = replica;
    this.sentUs[request] = nowUs;
    this.isLearned[request] = isLearned ? 1 : 0;
    this.#kind[request] = kind;
    this.#size[request] = size;
    if (!isLearned && !isStreamed) this.patienceUs[request] = Number.POSITIVE_INFINITY;
    else {
      const leastUs = isNew || !isLearned ? Math.max(this.floorUs, UNKNOWN_US) : this.floorUs;
      const patienceUs = isLearned ? Math.max(leastUs, PATIENCE * expectedUs) : leastUs;
      this.patienceUs[request] = Math.min(patienceUs * MORE_PATIENCE ** attempt, this.ceilingUs);
    }
  }

  /** The replica where the request waited until now, -1 for none. */
  end(request: number): number {
    const replica = this.replica(request);
    if (replica !== NO_REPLICA) this.replicaOf[request] = NO_REPLICA;
    return replica;
  }

  /** The replica where the request waits, -1 for none. */
  replica(request: number): number {
    return request < this.most ? this.replicaOf[request]! : NO_REPLICA;
  }

  /** Learns from a request that has just got its first byte. */
  learn(request: number, nowUs: number): void {
    this.#times.observe(this.#kind[request]!, this.#size[request]!, nowUs - this.sentUs[request]!);
  }

  /** What is expected now of a request as this one, in microseconds; NaN when that is not known. */
  expectedUs(request: number): number {
    return this.#times.expectedUs(this.#kind[request]!, this.#size[request]!);
  }

  rearrange(from: Int32Array): void {
    for (let request = 0; request < this.most; request++) {
      const replica = this.replicaOf[request]!;
      if (replica !== NO_REPLICA) this.replicaOf[request] = from.indexOf(replica);
    }
  }

  #reserve(request: number): void {
    if (request < this.most) return;
    const before = this.most;
    this.most = roomFor(request, before);
    this.replicaOf = grownArray(this.replicaOf, this.most).fill(NO_REPLICA, before);
    this.sentUs = grownArray(this.sentUs, this.most);
    this.patienceUs = grownArray(this.patienceUs, this.most);
    this.isLearned = grownArray(this.isLearned, this.most);
    this.#kind = grownArray(this.#kind, this.most);
    this.#size = grownArray(this.#size, this.most);
  }
}
