/** What has become of the requests of an endpoint before a replica was chosen for them, since the start. */
export class FlowCounts {
  /** Passed by the admission policy, whatever happened then. */
  admitted = 0;
  /** Refused by the admission policy, by reason: constants, a few per policy. */
  readonly refused = new Map<string, number>();
  /** Found the queue full. */
  rejected = 0;
  /** Gave their place in a full queue to a more important one. */
  shed = 0;
  /** Waited too long. */
  expired = 0;
  /** Their clients left while they waited. */
  left = 0;
  /** Told that the endpoint is gone, or the gateway going. */
  turnedOut = 0;
  /** Left the queue for a replica, and how long they waited for it all together. */
  dispatched = 0;
  queuedUs = 0;

  refuse(reason: string): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
  }
}
