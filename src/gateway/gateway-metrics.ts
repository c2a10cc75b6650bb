import type { Outcome } from './proxy/exchange.js';

/** Counts what happens, for `/metrics`. */
export class GatewayMetrics {
  readonly outcomes = new Map<Outcome, number>();
  readonly refusals = new Map<number, number>();
  retries = 0;
  /** Scrapes that failed, by replica, and signals that an engine should have given and did not, by name. */
  readonly failedScrapes = new Map<string, number>();
  readonly missingSignals = new Map<string, number>();

  ended(outcome: Outcome): void {
    count(this.outcomes, outcome);
  }

  refused(status: number): void {
    count(this.refusals, status);
  }

  scrapeFailed(replica: string): void {
    count(this.failedScrapes, replica);
  }

  signalMissing(name: string): void {
    count(this.missingSignals, name);
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
