import { isObject, type JsonObject } from './json-body.js';

/** How many tokens a request took. */
export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  /** Of the prompt, found in the engine's cache; null when the engine does not say. */
  cachedTokens: number | null;
}

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

/**
 * The usage in a response or in the data of a stream's event; null when there is none. Knows the names that chat and plain
 * completions use, those of `/v1/responses` and `/v1/messages`, and llama.cpp's `timings`.
 */
export function readUsage(response: unknown): TokenUsage | null {
  if (!isObject(response)) return null;
  const holder = [response, response.response, response.message].find((one) => isObject(one) && isObject(one.usage));
  if (holder === undefined) return null;
  const usage = (holder as JsonObject).usage as JsonObject;
  const promptTokens = count(usage.prompt_tokens) ?? count(usage.input_tokens);
  const completionTokens = count(usage.completion_tokens) ?? count(usage.output_tokens);
  if (promptTokens === null && completionTokens === null) return null;
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const cachedTokens =
    (isObject(details) ? count(details.cached_tokens) : null) ??
    count(usage.cache_read_input_tokens) ??
    (isObject(response.timings) ? count(response.timings.cache_n) : null);
  return { promptTokens: promptTokens ?? 0, completionTokens: completionTokens ?? 0, cachedTokens };
}

/** Whether an event may carry usage: a quick look at its bytes, so that most need not be parsed. */
export function mayHaveUsage(bytes: Uint8Array, from: number, to: number): boolean {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from);
  for (let at = data.indexOf('"usage"'); at >= 0; at = data.indexOf('"usage"', at + 7)) {
    let next = at + 7;
    while (data[next] === 0x20 || data[next] === 0x3a) next++;
    if (data[next] === 0x7b) return true;
  }
  return false;
}

/** Whether a chunk is the one that `stream_options.include_usage` adds: usage and no choice. */
export function isUsageChunk(chunk: unknown): boolean {
  return isObject(chunk) && isObject(chunk.usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0;
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
