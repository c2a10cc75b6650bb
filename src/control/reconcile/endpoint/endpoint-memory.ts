import type { Status } from '../../resources/resource.js';
import { KvFacts } from '../models/kv-facts.js';
import type { ObservedReplica } from './endpoint-state.js';
import type { Hindrance, LastExit } from './endpoint-status.js';
import { exitedText } from './exit-text.js';
import type { Seen } from './replica-events.js';

/**
 * What is known of an endpoint beyond what is stored and what runs. All of it may be lost: the next look is a little more eager to
 * start something again, and no more.
 */
export class EndpointMemory {
  /** How many before a replica have failed in its place. */
  readonly restarts = new Map<string, number>();
  readonly #unwell = new Map<string, number>();
  readonly kv = new KvFacts();
  seen: Seen | null = null;
  lastExit: LastExit | null = null;
  /** What was last said to be wrong; undefined before anything was said. */
  toldProblem: string | null | undefined;
  /** Why the last start failed, of what, and when the next may be tried. */
  failedStart: (Hindrance & { readonly specHash: string; readonly failures: number; readonly from: number }) | null =
    null;

  /** @param status as stored: what an earlier control plane knew */
  constructor(status: Status | null) {
    for (const { id, restarts } of (status?.replicas ?? []) as { id: string; restarts: number }[]) {
      if (restarts > 0) this.restarts.set(id, restarts);
    }
  }

  /** Since when somebody who looks has found it so. */
  unwellSince({ id, phase }: Pick<ObservedReplica, 'id' | 'phase'>, now: number): number | null {
    if (phase !== 'unready') {
      this.#unwell.delete(id);
      return null;
    }
    if (!this.#unwell.has(id)) this.#unwell.set(id, now);
    return this.#unwell.get(id)!;
  }

  /** Takes note of who has exited, and forgets who is no more. */
  look(replicas: readonly ObservedReplica[]): void {
    const here = new Set(replicas.map(({ id }) => id));
    for (const known of [this.restarts, this.#unwell]) {
      for (const id of known.keys()) if (!here.has(id)) known.delete(id);
    }
    for (const { exit, id, isLeaving } of replicas) {
      if (exit === null || isLeaving || this.seen?.get(id) === 'exited') continue;
      this.lastExit = { text: exitedText(exit), lines: exit.lastLines };
    }
  }
}
