/** Numbers that a policy may save of a pick. */
const MOST_NUMBERS = 4;
const RANDOM_WORDS = 4;

/**
 * What a pick depended on besides the request and the view, so that it can be made again later, with other signals. The host saves the
 * random stream, the policy the rest: only what counts for this request. One object is reused for many picks.
 */
export interface PickState {
  /** The words of the policy's random stream before the pick. */
  random: Float64Array;
  /** Numbers of the policy: whose turn it is, the slot of the session's replica, the hash of the key. */
  numbers: Float64Array;
  /** One number per replica; meaningful while `hasColumn`. */
  column: Float64Array;
  hasColumn: boolean;
}

export function createPickState(replicas: number): PickState {
  return {
    random: new Float64Array(RANDOM_WORDS),
    numbers: new Float64Array(MOST_NUMBERS),
    column: new Float64Array(replicas),
    hasColumn: false,
  };
}
