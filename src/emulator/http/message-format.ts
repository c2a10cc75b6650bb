import type { JsonObject } from '../../protocol/json/json-body.js';
import { sseEvent } from '../../protocol/sse/sse-writer.js';
import type { UsageBody } from '../../protocol/usage.js';
import type { Finish, ResponseFormat } from './response-format.js';

/** Responses as messages, in Anthropic's form. They have one choice. */
export function messageFormat(id: string, model: string): ResponseFormat {
  const start = { id, type: 'message', role: 'assistant', model };
  let last: Finish | null = null;
  return {
    opening: (_, usage) =>
      event('message_start', {
        message: { ...start, content: [], stop_reason: null, stop_sequence: null, usage: counts(usage, 0) },
      }) + event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    chunk: (_, text, finish) => {
      last = finish;
      return text === '' ? '' : event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
    },
    ending: (usage) =>
      event('content_block_stop', { index: 0 }) +
      event('message_delta', { delta: stopFields(last), usage: counts(usage, usage?.completion_tokens ?? 0) }) +
      event('message_stop', {}),
    whole: ([{ text, response } = { text: '', response: null }], usage) => ({
      ...start,
      content: [{ type: 'text', text }],
      ...stopFields(response),
      usage: counts(usage, usage.completion_tokens),
    }),
  };
}

function event(type: string, fields: JsonObject): string {
  return `event: ${type}\n${sseEvent(JSON.stringify({ type, ...fields }))}`;
}

/** Cached tokens are not part of `input_tokens`. */
function counts(usage: UsageBody | null, output: number): JsonObject {
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    input_tokens: (usage?.prompt_tokens ?? 0) - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
  };
}

function stopFields(finish: Finish | null): JsonObject {
  const stopSequence = finish?.stopReason ?? null;
  const reason =
    finish?.finishReason === 'length' ? 'max_tokens' : stopSequence === null ? 'end_turn' : 'stop_sequence';
  return { stop_reason: reason, stop_sequence: stopSequence };
}
