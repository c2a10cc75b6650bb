import type { Lookup } from './workbench.js';

/** The naive prefix index: a set of blocks per replica, looked up replica by replica and block by block. */
export class PlainIndex implements Lookup {
  readonly #sets: readonly Set<number>[];

  constructor(replicas: number) {
    this.#sets = Array.from({ length: replicas }, () => new Set<number>());
  }

  touch(replica: number, blocks: Int32Array, count: number): void {
    for (let i = 0; i < count; i++) this.#sets[replica]!.add(blocks[i]!);
  }

  match(blocks: Int32Array, count: number, matched: Int32Array): void {
    this.#sets.forEach((set, replica) => {
      let found = 0;
      while (found < count && set.has(blocks[found]!)) found++;
      matched[replica] = found;
    });
  }
}
