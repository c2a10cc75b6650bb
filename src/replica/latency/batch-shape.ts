import type { BatchShape } from './contract.js';

export function emptyShape(): BatchShape {
  return {
    scheduled: 0,
    decodes: 0,
    decodeContext: 0,
    prefills: 0,
    prefillTokens: 0,
    prefillContext: 0,
    prefillFullAttention: 0,
    prefillCausalAttention: 0,
    prefillPairs: 0,
    prefillLongest: 0,
    decodeLongest: 0,
    heldTokens: 0,
  };
}

/** Starts a new step: this many requests decode, with contexts that add up to this. */
export function resetShape(shape: BatchShape, decodes: number, decodeContext: number): void {
  shape.scheduled = decodes;
  shape.decodes = decodes;
  shape.decodeContext = decodeContext;
  shape.prefills = 0;
  shape.prefillTokens = 0;
  shape.prefillContext = 0;
  shape.prefillFullAttention = 0;
  shape.prefillCausalAttention = 0;
  shape.prefillPairs = 0;
  shape.prefillLongest = 0;
}

/**
 * Adds a request that computes this many tokens of its prompt, after those that are done. `context` is all tokens
 * before them, including those that a new request found in the cache.
 */
export function addPrefill(shape: BatchShape, input: number, done: number, tokens: number, context: number): void {
  shape.scheduled++;
  shape.prefills++;
  shape.prefillTokens += tokens;
  shape.prefillContext += done;
  shape.prefillFullAttention += tokens * (input + tokens / 2);
  shape.prefillCausalAttention += tokens * (done + (tokens - 1) / 2);
  shape.prefillPairs += tokens * (context + (tokens + 1) / 2);
  if (context + tokens > shape.prefillLongest) shape.prefillLongest = context + tokens;
}
