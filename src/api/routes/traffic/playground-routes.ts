import * as v from 'valibot';
import { field, list, number, required, section, text, whole } from '../../../schema/fields.js';
import type { ApiHost } from '../../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute } from '../../api-route.js';
import { playgroundFailed } from '../../errors.js';

const CHAT = section('PlaygroundChat', {
  model: required(text(200), { help: 'a model that the gateway serves' }),
  messages: required(list(v.record(v.string(), v.unknown())), { help: "the chat, as in OpenAI's API" }),
  max_tokens: field(whole(1, 1_000_000), { default: 256, help: 'most tokens of the response' }),
  temperature: field(number(0, 2), { help: 'temperature' }),
  key: field(text(300), { help: "an API key to use in place of the caller's credentials" }),
});

type Chat = v.InferOutput<typeof CHAT>;

/** A chat on the admin port, for pages that may not call the port of clients. */
export const PLAYGROUND_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/playground/chat',
    role: 'none',
    scope: 'anywhere',
    summary: "Send a chat to the gateway with the caller's own API key, or a given one, and stream the response",
    body: {
      type: 'json',
      schema: CHAT,
      example: { model: 'qwen/qwen3-14b', messages: [{ role: 'user', content: 'hello' }] },
    },
    response: { type: 'stream' },
    handle: chat,
  }),
];

/** By the port of clients, so that limits, queue, policy and usage apply as to every request. */
async function chat({ gateway }: ApiHost, { body, caller, header, signal }: ApiRequest<object, Chat>) {
  const { key, ...request } = body;
  const own = caller.keyId === undefined ? undefined : (header('authorization') ?? `Bearer ${header('x-api-key')}`);
  const authorization = key === undefined ? own : `Bearer ${key}`;
  const response = await fetch(`${reachable(gateway.url)}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
    body: JSON.stringify({ ...request, stream: true }),
    signal,
  });
  if (!response.ok || response.body === null) throw playgroundFailed(response.status, messageIn(await response.text()));
  return { status: 200 as const, stream: pieces(response.body) };
}

async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of body) yield decoder.decode(piece, { stream: true });
}

function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return 'no reason was given';
  }
}

/** A wildcard address is reached on this machine by loopback. */
const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
