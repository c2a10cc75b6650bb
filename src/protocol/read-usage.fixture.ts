import { isObject } from './json/json-body.js';
import type { TokenCounts } from './usage.js';

/**
 * The usage of a response that has been parsed, or of an event's data; null when there is none. The naive reference of
 * the scanner, on the parsed object.
 */
export function readUsage(answer: unknown): TokenCounts | null {
  if (!isObject(answer)) return null;
  for (const holder of [answer, answer.response, answer.message]) {
    if (!isObject(holder) || !isObject(holder.usage)) continue;
    const { usage } = holder;
    const cacheRead = count(usage.cache_read_input_tokens);
    const uncached = count(usage.input_tokens);
    const input =
      uncached === null ? null : uncached + (cacheRead ?? 0) + (count(usage.cache_creation_input_tokens) ?? 0);
    const prompt = count(usage.prompt_tokens) ?? input;
    const output = count(usage.completion_tokens) ?? count(usage.output_tokens);
    const total = prompt === null && output === null ? count(usage.total_tokens) : null;
    if (prompt === null && output === null && total === null) return null;
    return {
      inputTokens: prompt ?? total ?? -1,
      outputTokens: output ?? -1,
      cachedTokens:
        inner(usage.prompt_tokens_details, 'cached_tokens') ??
        inner(usage.input_tokens_details, 'cached_tokens') ??
        cacheRead ??
        inner(answer.timings, 'cache_n') ??
        -1,
      reasoningTokens:
        inner(usage.completion_tokens_details, 'reasoning_tokens') ??
        inner(usage.output_tokens_details, 'reasoning_tokens') ??
        -1,
    };
  }
  return null;
}

function inner(details: unknown, name: string): number | null {
  return isObject(details) ? count(details[name]) : null;
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null;
}
