import type { JsonObject } from '../../protocol/json/json-body.js';
import { SSE_DONE, sseEvent } from '../../protocol/sse/sse-writer.js';
import type { UsageBody } from '../../protocol/usage.js';
import type { PlannedResponse } from '../response.js';

/** Fields common to all chunks of a response. */
export interface ResponseFacts {
  id: string;
  created: number;
  model: string;
}

/** The finish reason in the last chunk of a choice. */
export type Finish = Pick<PlannedResponse, 'finishReason' | 'stopReason'>;

/** How responses are written: as a chat completion, a plain one or a message. */
export interface ResponseFormat {
  /** The event that begins a choice, if there is one. */
  opening(index: number, usage: UsageBody | null): string;
  chunk(index: number, text: string, finish: Finish | null, usage: UsageBody | null): string;
  /** The events that end the stream; with the usage, if it was requested. */
  ending(usage: UsageBody | null): string;
  whole(responses: readonly { text: string; response: Finish }[], usage: UsageBody): JsonObject;
}

export function chatFormat(facts: ResponseFacts): ResponseFormat {
  const event = streamEvent('chat.completion.chunk', facts);
  const choice = (index: number, delta: JsonObject, finish: Finish | null) => ({
    index,
    delta,
    logprobs: null,
    ...finishFields(finish),
  });
  return {
    opening: (index, usage) => event([choice(index, { role: 'assistant', content: '' }, null)], usage),
    chunk: (index, text, finish, usage) => event([choice(index, { content: text }, finish)], usage),
    ending: (usage) => (usage === null ? '' : event([], usage)) + SSE_DONE,
    whole: (responses, usage) => ({
      id: facts.id,
      object: 'chat.completion',
      created: facts.created,
      model: facts.model,
      choices: responses.map(({ text, response }, index) => ({
        index,
        message: { role: 'assistant', content: text, refusal: null, tool_calls: [] },
        logprobs: null,
        ...finishFields(response),
      })),
      usage,
    }),
  };
}

export function textFormat(facts: ResponseFacts): ResponseFormat {
  const event = streamEvent('text_completion', facts);
  const choice = (index: number, text: string, finish: Finish | null) => ({
    index,
    text,
    logprobs: null,
    ...finishFields(finish),
  });
  return {
    opening: () => '',
    chunk: (index, text, finish, usage) => event([choice(index, text, finish)], usage),
    ending: (usage) => (usage === null ? '' : event([], usage)) + SSE_DONE,
    whole: (responses, usage) => ({
      id: facts.id,
      object: 'text_completion',
      created: facts.created,
      model: facts.model,
      choices: responses.map(({ text, response }, index) => choice(index, text, response)),
      usage,
    }),
  };
}

function finishFields(finish: Finish | null): JsonObject {
  return { finish_reason: finish?.finishReason ?? null, stop_reason: finish?.stopReason ?? null };
}

/** Most of an event is the same for all of a response's chunks. */
function streamEvent(object: string, { id, created, model }: ResponseFacts) {
  const head = JSON.stringify({ id, object, created, model }).slice(0, -1);
  return (choices: readonly JsonObject[], usage: UsageBody | null): string => {
    const tail = usage === null ? '' : `,"usage":${JSON.stringify(usage)}`;
    return sseEvent(`${head},"choices":${JSON.stringify(choices)}${tail}}`);
  };
}
