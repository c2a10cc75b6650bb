// llama.cpp behind the OpenAI API: chat completions and completions, streamed or not, with the metrics of llama.cpp's server.
//
//   node server.mjs [--model model.gguf] [--port 9101] [--parallel 8] [--ctx-size 8192] [--batch-size 256] [--threads 1]
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string', default: 'model.gguf' },
    name: { type: 'string', default: 'noise' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '9101' },
    parallel: { type: 'string', default: '8' },
    'ctx-size': { type: 'string', default: '8192' },
    'batch-size': { type: 'string', default: '256' },
    threads: { type: 'string', default: '1' },
  },
});

/** @type {import('./engine.mjs').Engine | null} null while it loads */
let engine = null;

/** An error for the client. */
class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const ROUTES = {
  'GET /health': () => ({ status: 'ok' }),
  'GET /v1/models': () => ({
    object: 'list',
    data: [{ id: flags.name, object: 'model', owned_by: 'llamacpp', meta: { n_ctx: engine.contextTokens } }],
  }),
  'GET /slots': () =>
    Array.from({ length: engine.slots }, (_, id) => ({
      id,
      n_ctx: engine.contextTokens,
      is_processing: id < engine.running.length,
    })),
  'GET /metrics': metrics,
  'POST /tokenize': (body) => {
    const tokens = promptOf(body.content === undefined ? body : { prompt: body.content });
    return { count: tokens.length, max_model_len: engine.contextTokens, tokens };
  },
  'POST /v1/completions': (body, response) => complete(body, response, false),
  'POST /v1/chat/completions': (body, response) => complete(body, response, true),
};

function metrics() {
  const { n_busy_slots_total: busy, ...counters } = engine.counters;
  const gauges = {
    n_busy_slots_per_decode: busy / Math.max(1, counters.n_decode_total),
    requests_processing: engine.running.length,
    requests_deferred: engine.waiting.length,
  };
  const lines = (kind, figures) =>
    Object.entries(figures).map(([name, value]) => `# TYPE llamacpp:${name} ${kind}\nllamacpp:${name} ${value}\n`);
  return [...lines('counter', counters), ...lines('gauge', gauges)].join('');
}

function promptOf({ messages, prompt }) {
  if (Array.isArray(messages)) return engine.tokenize(engine.chatText(messages));
  if (typeof prompt === 'string') return engine.tokenize(prompt);
  throw new Refusal(400, 'messages or a prompt as text is required');
}

async function complete(body, response, isChat) {
  const prompt = promptOf(body);
  const most = engine.contextTokens - prompt.length - 1;
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? most;
  if (prompt.length === 0) throw new Refusal(400, 'the prompt is empty');
  if (maxTokens < 1) throw new Refusal(400, 'max_tokens must be at least 1, and fit into the context after the prompt');
  if (maxTokens > most) throw new Refusal(400, `${prompt.length} + ${maxTokens} tokens exceed the context`);
  const wanted = {
    maxTokens,
    minTokens: body.ignore_eos ? maxTokens : (body.min_tokens ?? 0),
    temperature: body.temperature ?? 1,
    seed: body.seed ?? 1,
  };
  const left = new AbortController();
  response.on('close', () => left.abort(new Error('the client disconnected')));
  const completion = new Completion(body, isChat);
  if (body.stream) response.setHeader('content-type', 'text/event-stream');
  let text = '';
  const onToken = (piece) => {
    if (body.stream) response.write(completion.piece(piece, text === ''));
    text += piece;
  };
  const { reason, tokens, cachedTokens } = await engine.generate(prompt, wanted, onToken, left.signal);
  const usage = {
    prompt_tokens: prompt.length,
    completion_tokens: tokens,
    total_tokens: prompt.length + tokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
  if (!body.stream) return completion.whole(text, reason, usage);
  response.end(completion.ending(reason, body.stream_options?.include_usage ? usage : null));
}

/** A response in the formats of the OpenAI API. */
class Completion {
  constructor({ model = flags.name }, isChat) {
    this.isChat = isChat;
    this.shape = { id: randomUUID(), created: Math.floor(Date.now() / 1000), model };
  }

  whole(text, reason, usage) {
    const said = this.isChat ? { message: { role: 'assistant', content: text } } : { text };
    const object = this.isChat ? 'chat.completion' : 'text_completion';
    return { ...this.shape, object, choices: [{ index: 0, ...said, finish_reason: reason }], usage };
  }

  piece(text, isFirst) {
    const delta = isFirst ? { role: 'assistant', content: text } : { content: text };
    return this.#event([{ index: 0, ...(this.isChat ? { delta } : { text }), finish_reason: null }]);
  }

  ending(reason, usage) {
    const last = this.#event([{ index: 0, ...(this.isChat ? { delta: {} } : { text: '' }), finish_reason: reason }]);
    return `${last}${usage === null ? '' : this.#event([], { usage })}data: [DONE]\n\n`;
  }

  #event(choices, more = {}) {
    const object = this.isChat ? 'chat.completion.chunk' : 'text_completion';
    return `data: ${JSON.stringify({ ...this.shape, object, choices, ...more })}\n\n`;
  }
}

async function bodyOf(request) {
  if (request.method === 'GET') return {};
  const body = await json(request).catch(() => null);
  if (body === null || typeof body !== 'object') throw new Refusal(400, 'the body is not a JSON object');
  return body;
}

const server = createServer(async (request, response) => {
  try {
    const route = ROUTES[`${request.method} ${request.url.split('?')[0]}`];
    const body = await bodyOf(request);
    if (route === undefined) throw new Refusal(404, `unknown route ${request.method} ${request.url}`);
    if (engine === null) throw new Refusal(503, 'the model is being loaded');
    const content = await route(body, response);
    if (content !== undefined) send(response, 200, content);
  } catch (error) {
    const { status = 500, message } = error;
    const shape = { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', code: status } };
    if (response.headersSent) response.end(`data: ${JSON.stringify(shape)}\n\n`);
    else if (!response.destroyed) send(response, status, shape);
  }
});

function send(response, status, content) {
  const isText = typeof content === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain; version=0.0.4' : 'application/json' });
  response.end(isText ? content : JSON.stringify(content));
}

async function shutDown() {
  server.close();
  server.closeAllConnections();
  await engine?.close();
  process.exit(0);
}
process.on('SIGINT', shutDown);
process.on('SIGTERM', shutDown);

function giveUp({ message }) {
  console.error(message);
  process.exit(1);
}
server.on('error', giveUp);

server.listen(Number(flags.port), flags.host, async () => {
  const options = {
    path: flags.model,
    slots: Number(flags.parallel),
    contextTokens: Number(flags['ctx-size']),
    batchTokens: Number(flags['batch-size']),
    threads: Number(flags.threads),
  };
  const { Engine } = await import('./engine.mjs').catch(giveUp);
  engine = await Engine.load(options).catch(giveUp);
  console.error(`serving ${flags.name} on http://${flags.host}:${server.address().port}`);
});
