import type { EndpointDirectory } from './fleet/endpoint-directory.js';
import type { LiveTraffic } from './live-traffic.js';
import type { Ports } from './ports.js';

/**
 * How long a draining gateway still responds after its last request, so that late clients get a refusal instead of a
 * reset.
 */
const LINGER_MS = 100;

interface Drained {
  readonly ports: Pick<Ports, 'cutSoon' | 'handOver'>;
  readonly traffic: Pick<LiveTraffic, 'exchanges'> & { isDraining: boolean };
  readonly directory: Pick<EndpointDirectory, 'settling'>;
  /** Called when requests are refused from now on. */
  readonly onBegin: () => void;
}

/** How a gateway comes to have no more requests. */
export class Draining {
  /** The time for requests under way is over. */
  isLate = false;
  readonly #parts: Drained;
  #ended: Promise<void> | null = null;
  #deadline: NodeJS.Timeout | undefined;

  constructor(parts: Drained) {
    this.#parts = parts;
  }

  /** Refuses new requests from now on. Resolves when those under way have ended, which are cut after `drainMs`. */
  begin(drainMs: number): Promise<void> {
    this.#ended ??= this.#drain(drainMs);
    return this.#ended;
  }

  /** No connection is left to be cut. */
  end(): void {
    clearTimeout(this.#deadline);
  }

  async #drain(drainMs: number): Promise<void> {
    const { directory, onBegin, ports, traffic } = this.#parts;
    const handedOver = ports.handOver(drainMs);
    if (handedOver !== null) await handedOver;
    traffic.isDraining = true;
    directory.settling.close();
    onBegin();
    this.#deadline = setTimeout(() => {
      this.isLate = true;
      for (const exchange of traffic.exchanges.all()) exchange.timeOut();
      ports.cutSoon();
    }, drainMs);
    if (traffic.exchanges.size === 0) return;
    await traffic.exchanges.emptied();
    if (!this.isLate) await new Promise((resolve) => setTimeout(resolve, Math.min(LINGER_MS, drainMs)));
  }
}
