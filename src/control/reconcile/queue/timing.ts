/** The clock of reconcilers; tests replace it. */
export interface Timing {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once; returns the function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemTiming: Timing = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
