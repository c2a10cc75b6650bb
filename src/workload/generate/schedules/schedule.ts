import type { RandomStream } from '../../../kernel/random-stream.js';

/** When the members of a cohort, or a client alone, send. */
export interface Schedule {
  /**
   * The member's next arrival in whole microseconds; Infinity when there is none or it would be after the horizon.
   * `random` is the member's stream.
   */
  next(member: number, random: RandomStream): number;
  /** The lengths of the last arrival: 0 for the client's, else the window's number from 1. */
  lengthsOf(member: number): number;
}
