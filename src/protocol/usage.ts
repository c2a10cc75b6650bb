/** `usage` as a response carries it. */
export interface UsageBody {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number } | null;
}

export function usageBody(promptTokens: number, completionTokens: number, cachedTokens: number | null): UsageBody {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: cachedTokens === null ? null : { cached_tokens: cachedTokens },
  };
}

/** How many tokens a request took; -1 for what the engine does not report. */
export interface TokenCounts {
  /** All of the prompt, what was found in a cache included. */
  inputTokens: number;
  cachedTokens: number;
  /** All of the response, reasoning included. */
  outputTokens: number;
  reasoningTokens: number;
}
