import { lognormal } from '../kernel/distributions.js';
import { randomStream } from '../kernel/random-stream.js';
import type { GenerationRequest } from '../protocol/generation-request.js';
import { TOKEN_BYTES } from '../protocol/prompt-bytes.js';
import { responseText } from './response-text.js';

/** Spread of the logarithm of natural lengths. */
const SIGMA = 0.7;

export type FinishReason = 'stop' | 'length';

/**
 * The planned response of a model. Token i is characters 4i..4i+3 of the text; a stop string at its end is not shown.
 */
export interface PlannedResponse {
  text: string;
  tokens: number;
  finishReason: FinishReason;
  /** The stop string that ended it. */
  stopReason: string | null;
}

type Wishes = Pick<GenerationRequest, 'minTokens' | 'ignoreEos' | 'stop' | 'includeStop'>;

/**
 * The whole response to a prompt: the same for the same seed, except where it is cut off. Without limits, responses
 * have a lognormal length of the given mean.
 */
export function planResponse(wishes: Wishes, mostTokens: number, meanTokens: number, seed: number): PlannedResponse {
  const length = lognormal(randomStream(seed, 'answer length'), Math.log(meanTokens) - SIGMA ** 2 / 2, SIGMA);
  // The end itself is a token, and the first that may come after the least number.
  const natural = Math.max(1, Math.round(length), wishes.minTokens > 0 ? wishes.minTokens + 1 : 0);
  const ends = !wishes.ignoreEos && natural <= mostTokens;
  const tokens = ends ? natural : mostTokens;
  const text = responseText(randomStream(seed, 'answer text'), natural, tokens);
  return stopped(text, wishes) ?? { text, tokens, finishReason: ends ? 'stop' : 'length', stopReason: null };
}

/** The response up to the stop string that is complete first; null when there is none. */
function stopped(text: string, { stop, includeStop, minTokens }: Wishes): PlannedResponse | null {
  let end = Number.POSITIVE_INFINITY;
  let found = '';
  for (const one of stop) {
    const at = text.indexOf(one, Math.max(0, minTokens * TOKEN_BYTES - one.length + 1));
    if (at < 0 || at + one.length >= end) continue;
    end = at + one.length;
    found = one;
  }
  if (found === '') return null;
  return {
    text: text.slice(0, includeStop ? end : end - found.length),
    tokens: Math.ceil(end / TOKEN_BYTES),
    finishReason: 'stop',
    stopReason: found,
  };
}
