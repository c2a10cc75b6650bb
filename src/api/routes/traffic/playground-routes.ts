import type { Dispatcher } from 'undici';
import * as v from 'valibot';
import { field, list, listOf, number, required, section, text, whole } from '../../../schema/fields.js';
import type { ApiHost } from '../../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { playgroundFailed, playgroundUnreachable } from '../../errors.js';
import { PAGE_QUERY, type PageQuery, pageOfAll } from '../../pagination.js';
import { described, string } from '../../views/parts.js';

const CHAT = section('PlaygroundChat', {
  model: required(text(200), { help: 'a model that the gateway serves' }),
  messages: required(list(v.record(v.string(), v.unknown())), { help: "the chat, as in OpenAI's API" }),
  max_tokens: field(whole(1, 1_000_000), { default: 256, help: 'most tokens of the response' }),
  temperature: field(number(0, 2), { help: 'temperature' }),
  top_p: field(number(0, 1), { help: 'share of the likeliest tokens to choose from' }),
  presence_penalty: field(number(-2, 2), { help: 'penalty of tokens that have appeared' }),
  frequency_penalty: field(number(-2, 2), { help: 'penalty of tokens by how often they have appeared' }),
  seed: field(whole(0, 2 ** 31 - 1), { help: 'seed of the random choices' }),
  stop: field(listOf(text(200), 1, 4), { help: 'texts at which the response ends' }),
  key: field(text(300), { help: "an API key to use in place of the caller's credentials" }),
});

const SERVED_MODEL = section('ServedModel', { name: described(string, 'name of the model in requests') });

type Chat = v.InferOutput<typeof CHAT>;

let unchecked: Dispatcher | undefined;

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
  defineRoute({
    method: 'GET',
    path: '/api/v1/playground/models',
    role: 'none',
    scope: 'anywhere',
    summary: "List the models that the gateway serves to the caller's own API key, or to callers without one",
    query: PAGE_QUERY,
    response: { type: 'list', schema: SERVED_MODEL },
    handle: models,
  }),
];

async function models(host: ApiHost, { caller, header, query, signal }: ApiRequest<PageQuery, undefined>) {
  const response = await askClientPort(host, '/v1/models', { headers: ownKey(caller, header), signal });
  const read = await response.text();
  if (!response.ok) throw playgroundFailed(response.status, messageIn(read));
  const names = [...new Set((JSON.parse(read) as { data: readonly { id: string }[] }).data.map(({ id }) => id))];
  return ok(
    pageOfAll(
      'ServedModelList',
      query,
      names,
      (name) => [name],
      (name) => ({ name }),
    ),
  );
}

/** The caller's own credentials at the port of clients. A session has those that it was opened with. */
function ownKey(caller: ApiRequest['caller'], header: ApiRequest['header'], key?: string): Record<string, string> {
  const own = caller.keyId === undefined ? undefined : (header('authorization') ?? `Bearer ${header('x-api-key')}`);
  const authorization = key === undefined ? own : `Bearer ${key}`;
  return authorization === undefined ? {} : { authorization };
}

/** By the port of clients, so that limits, queue, policy and usage apply as to every request. */
async function chat(host: ApiHost, { body, caller, header, signal }: ApiRequest<object, Chat>) {
  const { key, ...request } = body;
  const response = await askClientPort(host, '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ownKey(caller, header, key) },
    // With the usage: only the engine knows how many tokens a piece of text is.
    body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
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

/** Calls the gateway's own port for clients. Throws where it cannot be reached. */
async function askClientPort({ gateway }: ApiHost, path: string, init: RequestInit): Promise<Response> {
  const url = `${reachable(gateway.url)}${path}`;
  try {
    return await (url.startsWith('https:') ? overTls(url, init) : fetch(url, init));
  } catch (error) {
    if (init.signal?.aborted) throw error;
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    throw playgroundUnreachable(cause?.message ?? cause?.code ?? (error as Error).message);
  }
}

/** The certificate has the names that clients use, and its CA may be theirs: this connection does not leave the machine. */
async function overTls(url: string, init: RequestInit): Promise<Response> {
  const undici = await import('undici');
  unchecked ??= new undici.Agent({ connect: { rejectUnauthorized: false } });
  const sent = { ...init, dispatcher: unchecked } as Parameters<typeof undici.fetch>[1];
  return (await undici.fetch(url, sent)) as unknown as Response;
}

/** A wildcard address is reached on this machine by loopback. */
const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
