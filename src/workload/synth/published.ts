/**
 * What is known of the unpublished agentic-coder trace: only these numbers. Everything else in the synthetic trace is
 * an assumption, listed where it is made.
 */
export const PUBLISHED = {
  requests: 1214,
  sessions: 274,
  durationS: 2912,
  meanInput: 33_600,
  meanOutput: 445,
  /** Of all tokens, those of prompts. */
  prefillShare: 0.98,
  /** Of all prompt blocks that stood in an earlier prompt, those that stood in one of the same session. */
  insideShare: 0.91,
  turnsP90: 1,
  turnsP99: 18,
  /** In the full trace, of which the 1,214 requests are a sample. */
  turnsMax: 3091,
} as const;
