import type { FlowControlConfig } from '../../src/simulator/cluster-config.js';
import type { ReferenceRequest } from './request.js';

/** A request that waits at the gateway. */
export interface GatewayEntry {
  request: ReferenceRequest;
  sequence: number;
  enqueuedUs: number;
}

/** The waiting requests of one SLO priority: a queue per tenant. Empty queues are removed. */
interface Band {
  priority: number;
  lines: Map<string, GatewayEntry[]>;
  lastServed: string | null;
}

function entriesOf(band: Band): GatewayEntry[] {
  return [...band.lines.values()].flat();
}

function lineNameOf(entry: GatewayEntry): string {
  return entry.request.tenant === '' ? 'default' : entry.request.tenant;
}

function leastBy<T>(items: readonly T[], ...keys: ((item: T) => number)[]): T | undefined {
  return items.toSorted((a, b) => keys.reduce((order, key) => order || key(a) - key(b) || 0, 0))[0];
}

/** The gateway queue: which requests wait, which are refused or shed, and which is dispatched next. */
export class GatewayQueue {
  /** Highest priority first. Bands stay once they were needed. */
  readonly #bands: Band[] = [];
  #nextSequence = 0;

  constructor(readonly config: FlowControlConfig) {}

  get size(): number {
    return this.#bands.reduce((sum, band) => sum + entriesOf(band).length, 0);
  }

  /** The entry of the new request, or null when it is refused; `shed` is the request evicted for it. */
  enqueue(request: ReferenceRequest, clockUs: number): { entry: GatewayEntry | null; shed: ReferenceRequest | null } {
    const { perBandCapacity, maxQueueDepth, queueShedding } = this.config;
    const entry = { request, sequence: this.#nextSequence++, enqueuedUs: clockUs };
    const band = this.#band(request.sloPriority);
    if (perBandCapacity > 0 && entriesOf(band).length >= perBandCapacity) return { entry: null, shed: null };
    let shed: ReferenceRequest | null = null;
    if (maxQueueDepth > 0 && this.size >= maxQueueDepth) {
      const victim = queueShedding ? this.#victim() : undefined;
      if (victim === undefined || victim.request.sloPriority >= request.sloPriority) return { entry: null, shed: null };
      this.remove(victim);
      shed = victim.request;
    }
    const line = band.lines.get(lineNameOf(entry));
    if (line === undefined) band.lines.set(lineNameOf(entry), [entry]);
    else line.push(entry);
    return { entry, shed };
  }

  remove(entry: GatewayEntry): void {
    const { lines } = this.#band(entry.request.sloPriority);
    const line = lines.get(lineNameOf(entry))!;
    line.splice(line.indexOf(entry), 1);
    if (line.length === 0) lines.delete(lineNameOf(entry));
  }

  /** Takes out the request to dispatch at this saturation, if any may go. */
  takeNext(saturation: number): GatewayEntry | undefined {
    const band = this.config.dispatchOrder === 'fifo' ? this.#oldestBand(saturation) : this.#urgentBand(saturation);
    if (band === undefined) return undefined;
    const entry = this.#fromBand(band);
    this.remove(entry);
    return entry;
  }

  /** The less urgent the band, the less saturated the cluster must be for it. */
  #ceiling(place: number): number {
    if (this.#bands.length === 1) return 1;
    return 1 - (place * (1 - this.config.usageLimitThreshold)) / (this.#bands.length - 1);
  }

  /** The most urgent band that is not empty; none when it or a band above it is held back. */
  #urgentBand(saturation: number): Band | undefined {
    for (const [place, band] of this.#bands.entries()) {
      if (saturation >= this.#ceiling(place)) return undefined;
      if (band.lines.size > 0) return band;
    }
    return undefined;
  }

  /** The band of the oldest request, unless it is held back. */
  #oldestBand(saturation: number): Band | undefined {
    const oldest = leastBy(this.#bands.flatMap(entriesOf), (entry) => entry.sequence);
    if (oldest === undefined) return undefined;
    const place = this.#bands.findIndex((band) => band.priority === oldest.request.sloPriority);
    return saturation >= this.#ceiling(place) ? undefined : this.#bands[place];
  }

  #fromBand(band: Band): GatewayEntry {
    const name = this.#fairLine(band);
    band.lastServed = name;
    const line = band.lines.get(name)!;
    if (this.config.dispatchOrder !== 'slo-deadline') return line[0]!;
    const due = ({ enqueuedUs, request }: GatewayEntry) => enqueuedUs + this.#targetUs(request);
    return leastBy(line, due, (entry) => entry.sequence)!;
  }

  #targetUs(request: ReferenceRequest): number {
    if (request.sloTargetUs > 0) return request.sloTargetUs;
    return this.config.sloTargetsUs[request.sloClass || 'standard'] ?? Number.POSITIVE_INFINITY;
  }

  #fairLine(band: Band): string {
    const names = [...band.lines.keys()].sort();
    if (this.config.fairnessPolicy === 'round-robin') {
      return names[(names.indexOf(band.lastServed ?? '') + 1) % names.length]!;
    }
    return leastBy(names, (name) => band.lines.get(name)![0]!.sequence)!;
  }

  /** The least urgent of those that may be shed; the latest comer among equals. */
  #victim(): GatewayEntry | undefined {
    const sheddable = this.#bands.filter((band) => band.priority < 0).flatMap(entriesOf);
    return leastBy(
      sheddable,
      (entry) => entry.request.sloPriority,
      (entry) => -entry.sequence,
    );
  }

  #band(priority: number): Band {
    const known = this.#bands.find((band) => band.priority === priority);
    if (known !== undefined) return known;
    const band: Band = { priority, lines: new Map(), lastServed: null };
    this.#bands.push(band);
    this.#bands.sort((a, b) => b.priority - a.priority);
    return band;
  }
}
