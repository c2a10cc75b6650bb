import { repeatedTokens } from '../../workload/request-table.js';
import type { ReplicaRequests } from '../replica-requests.js';
import type { KeptOutput } from './kept-output.js';

/** Keys of the request at the head of the wait queue: it may be tried in many steps before it gets a seat. */
export class HeadKeys {
  keys: Int32Array = new Int32Array(64);
  /** Leading blocks that may be looked up again, by others or by the request itself after a preemption. */
  count = 0;
  readonly #requests: ReplicaRequests;
  readonly #blockSize: number;
  readonly #kept: KeptOutput | null;
  #row = -1;

  /** @param kept output kept by preempted requests; null where they start over */
  constructor(requests: ReplicaRequests, blockSize: number, kept: KeptOutput | null = null) {
    this.#requests = requests;
    this.#blockSize = blockSize;
    this.#kept = kept;
  }

  /** @param all also the blocks that only this request looks up */
  load(row: number, all: boolean): void {
    if (this.#row === row) return;
    const { table, keys } = this.#requests;
    let tokens = repeatedTokens(table, row);
    const produced = all && this.#kept !== null ? this.#kept.produced(row) : 0;
    if (produced > 0) tokens = Math.max(tokens, table.inputTokens[row]! + produced);
    const blocks = (tokens / this.#blockSize) | 0;
    this.count = all ? blocks : keys.shared(row, blocks);
    if (this.keys.length < this.count) this.keys = new Int32Array(this.count * 2);
    if (produced > 0) this.#kept!.fillKeys(row, this.count, this.keys);
    else keys.fill(row, this.count, this.keys);
    this.#row = row;
  }

  /** The request got its seat and takes the keys along; an array it does not need any more comes in return. */
  handOver(spare: Int32Array | undefined): Int32Array {
    const taken = this.keys;
    this.keys = spare ?? new Int32Array(64);
    this.#row = -1;
    return taken;
  }

  /** The keys of this row have changed. */
  forget(row: number): void {
    if (this.#row === row) this.#row = -1;
  }
}
