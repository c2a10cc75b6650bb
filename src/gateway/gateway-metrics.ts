import type { Outcome } from './proxy/exchange-host.js';

/** Counts what happens, for `/metrics`. */
export class GatewayMetrics {
  readonly outcomes = new Map<Outcome, number>();
  readonly refusals = new Map<number, number>();
  retries = 0;
  /** Bugs: requests that the gateway could not serve for a reason of its own. */
  faults = 0;
  /** By replica: scrapes that failed, and how often each signal that its engine should give was not there. */
  readonly failedScrapes = new Map<string, number>();
  readonly missingSignals = new Map<string, Map<string, number>>();

  ended(outcome: Outcome): void {
    count(this.outcomes, outcome);
  }

  refused(status: number): void {
    count(this.refusals, status);
  }

  scrapeFailed(replica: string): void {
    count(this.failedScrapes, replica);
  }

  signalMissing(replica: string, signal: string): void {
    let signals = this.missingSignals.get(replica);
    if (signals === undefined) {
      signals = new Map();
      this.missingSignals.set(replica, signals);
    }
    count(signals, signal);
  }

  /** A replica has left: what was counted of it goes with it, so that names do not pile up. */
  forget(replica: string): void {
    this.failedScrapes.delete(replica);
    this.missingSignals.delete(replica);
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
