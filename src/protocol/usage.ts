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
  /** The whole prompt, including cached tokens. */
  inputTokens: number;
  cachedTokens: number;
  /** The whole response, including reasoning. */
  outputTokens: number;
  reasoningTokens: number;
}
