/** Outcomes of an endpoint's requests before a replica is chosen, since the start. */
export class FlowCounts {
  /** Admitted by the admission policy, whatever happened then. */
  admitted = 0;
  /** Refused by the admission policy, by reason: constants, a few per policy. */
  readonly refused = new Map<string, number>();
  /** Found the queue full. */
  rejected = 0;
  /** Lost their place in a full queue to a more important request. */
  shed = 0;
  /** Waited too long. */
  expired = 0;
  /** Their clients disconnected while they waited. */
  left = 0;
  /** Refused because the endpoint was deleted or the gateway stops. */
  turnedOut = 0;
  /** Left the queue for a replica, and the sum of their waits. */
  dispatched = 0;
  queuedUs = 0;

  refuse(reason: string): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
  }
}
