import type { LengthLimits } from './length-distribution.js';

/** Lengths are 32-bit columns. */
export const MAX_TOKENS = 2 ** 31 - 1;

export const TOKENS: LengthLimits = { least: 1, most: MAX_TOKENS };
/** Images, audio clips and videos of a prompt: there may be none. */
export const COUNT: LengthLimits = { least: 0, most: 10_000 };
/** Reasoning among the tokens of a response. */
export const PERCENT: LengthLimits = { least: 0, most: 100 };
/** Microseconds before a session's next turn; 11 days are far beyond any use. */
export const PAUSE: LengthLimits = { least: 0, most: 1e12 };
export const MAX_ROUNDS = 100_000;
