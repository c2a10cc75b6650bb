import type { FleetView } from '../../policy/fleet-view.js';
import type { Replica } from '../../replica/replica.js';

/**
 * Fills in the reported columns of the view, as fresh as configured. With an interval of 0 the view shows each replica as it is;
 * otherwise as of the last refresh, and `look` refreshes only once the interval has passed, or never where a clock says when to `read`.
 * Before the first refresh every replica looks empty, as to a router that has not scraped yet.
 */
export class FleetSignals {
  readonly #view: FleetView;
  readonly #replicas: readonly Replica[];
  readonly #refreshUs: number;
  readonly #hasClock: boolean;
  /** When the clock reads next; never where looks do. */
  nextUs: number;
  #refreshedUs = 0;

  /** @param phaseUs when a clock reads for the first time; absent: there is none */
  constructor(view: FleetView, replicas: readonly Replica[], refreshUs: number, phaseUs?: number) {
    this.#view = view;
    this.#replicas = replicas;
    this.#refreshUs = refreshUs;
    this.#hasClock = phaseUs !== undefined && refreshUs > 0;
    this.nextUs = this.#hasClock ? phaseUs! : Number.POSITIVE_INFINITY;
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
    this.nextUs += this.#refreshUs;
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
