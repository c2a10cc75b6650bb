import type { FleetView } from '../../policy/fleet-view.js';
import type { Replica } from '../../replica/replica.js';

/**
 * Fills in the reported columns of the view, as fresh as configured. With an interval of 0 the view shows each replica as it is;
 * otherwise as of the last refresh, and `look` refreshes only once the interval has passed, or never where `read` is called by a
 * clock. Before the first refresh every replica looks empty, as to a router that has not scraped yet.
 */
export class FleetSignals {
  readonly #view: FleetView;
  readonly #replicas: readonly Replica[];
  readonly #refreshUs: number;
  readonly #hasClock: boolean;
  #refreshedUs = 0;

  /** @param hasClock whether `read` is called every so often: looks read nothing then */
  constructor(view: FleetView, replicas: readonly Replica[], refreshUs: number, hasClock = false) {
    this.#view = view;
    this.#replicas = replicas;
    this.#refreshUs = refreshUs;
    this.#hasClock = hasClock;
    if (refreshUs === 0) for (let i = 0; i < replicas.length; i++) this.#read(i);
  }

  /** A replica has run on. */
  moved(replica: number): void {
    if (this.#refreshUs === 0) this.#read(replica);
  }

  /** Before a decision. */
  look(nowUs: number): void {
    if (this.#refreshUs === 0) return;
    if (!this.#hasClock && nowUs - this.#refreshedUs >= this.#refreshUs) this.read(nowUs);
    this.#view.reportedAgeUs.fill(nowUs - this.#refreshedUs);
  }

  /** Reads all replicas as they are. */
  read(nowUs: number): void {
    for (let i = 0; i < this.#replicas.length; i++) this.#read(i);
    this.#refreshedUs = nowUs;
  }

  #read(replica: number): void {
    const from = this.#replicas[replica]!;
    const { total } = from.kv.pool;
    const blocks = from.reports.usedBlocks;
    const view = this.#view;
    view.queued[replica] = from.queueDepth;
    view.running[replica] = from.reports.running;
    view.kvUsed[replica] = blocks / total;
    view.freeBlocks[replica] = total - blocks;
    view.cacheHitRate[replica] = from.cacheHitRate;
  }
}
