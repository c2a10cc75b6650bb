/** Counts per replica, removed when the replica leaves, so that names do not accumulate. */
export class ReplicaCounts {
  readonly failedScrapes = new Map<string, number>();
  /** How often each signal that its engine should report was missing. */
  readonly missingSignals = new Map<string, Map<string, number>>();
  readonly breakerOpens = new Map<string, number>();
  readonly firstByteTimeouts = new Map<string, number>();

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

  /** Its breaker has opened. */
  breakerOpened(replica: string): void {
    count(this.breakerOpens, replica);
  }

  /** A request left it because its first byte was late. */
  firstByteTimedOut(replica: string): void {
    count(this.firstByteTimeouts, replica);
  }

  forget(replica: string): void {
    this.failedScrapes.delete(replica);
    this.missingSignals.delete(replica);
    this.breakerOpens.delete(replica);
    this.firstByteTimeouts.delete(replica);
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
