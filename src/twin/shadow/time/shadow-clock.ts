/** What runs shadows off the response path, and measures them. */
export interface ShadowClock {
  /** Calls back once, some milliseconds from now. */
  later(run: () => void): void;
  /** Calls back once, after what is under way. */
  soon(run: () => void): void;
  /** Processor time that the gateway has used so far, shadows included, in microseconds. */
  usedUs(): number;
  /** Whether the gateway hardly has time for its requests. */
  isBusy(): boolean;
}
