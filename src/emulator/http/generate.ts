import { ApiError } from '../../protocol/errors.js';
import { type GenerationRequest, readGenerationRequest } from '../../protocol/generation-request.js';
import { type JsonObject, requiredText } from '../../protocol/json/json-body.js';
import { type PromptBytes, tokensOfBytes } from '../../protocol/prompt-bytes.js';
import { promptsOf, writeChat, writePlain, writePrompt } from '../../protocol/write-prompt.js';
import type { Engine } from '../engine.js';
import { tooManyTokens, unknownModel } from '../errors.js';
import { hashText } from '../prompt-hash.js';
import { PromptPlan } from '../prompt-plan.js';
import { planResponse } from '../response.js';
import { Sequence } from '../sequence.js';
import type { EngineExchange } from './engine-exchange.js';
import { type Choice, GenerationJob } from './generation-job.js';
import { messageFormat } from './message-format.js';
import { chatFormat, textFormat } from './response-format.js';

/** The default output limit of plain completions, as in vLLM. */
const PLAIN_MAX_TOKENS = 16;
const MAX_SEQUENCES = 1024;

/** `POST /v1/chat/completions` */
export function chat(exchange: EngineExchange, body: JsonObject, breaks: boolean): void {
  const request = readFor(exchange.engine, body);
  const { engine, created } = exchange;
  const facts = { id: exchange.id('chatcmpl'), created, model: request.model };
  const job = new GenerationJob(exchange, request, chatFormat(facts));
  engine.scratch.clear();
  writeChat(body, engine.scratch);
  const planned = new Planned(engine, job, request);
  planned.add('');
  job.start(planned.choices, planned.promptTokens, breaks);
}

/** `POST /v1/completions` */
export function complete(exchange: EngineExchange, body: JsonObject, breaks: boolean): void {
  const request = readFor(exchange.engine, body);
  const { engine, created } = exchange;
  const facts = { id: exchange.id('cmpl'), created, model: request.model };
  const job = new GenerationJob(exchange, request, textFormat(facts));
  const planned = new Planned(engine, job, { ...request, maxTokens: request.maxTokens ?? PLAIN_MAX_TOKENS });
  const prompts = promptsOf(body.prompt, 'prompt');
  if (prompts.length * request.n > MAX_SEQUENCES) {
    throw new ApiError('malformed', `A request can have at most ${MAX_SEQUENCES} choices.`, 'prompt');
  }
  for (const prompt of prompts) {
    engine.scratch.clear();
    writePlain(prompt, engine.scratch);
    planned.add(request.echo ? engine.scratch.view().toString() : '');
  }
  job.start(planned.choices, planned.promptTokens, breaks);
}

/** `POST /v1/messages` */
export function message(exchange: EngineExchange, body: JsonObject, breaks: boolean): void {
  const request = readFor(exchange.engine, generationOf(body));
  const { engine } = exchange;
  const format = messageFormat(exchange.id('msg'), request.model);
  const job = new GenerationJob(exchange, { ...request, includeUsage: true, continuousUsage: true }, format);
  writeMessagePrompt(body, engine.scratch);
  const planned = new Planned(engine, job, request);
  planned.add('');
  job.start(planned.choices, planned.promptTokens, breaks);
}

/** `POST /v1/messages/count_tokens` */
export function countTokens(exchange: EngineExchange, body: JsonObject): void {
  const { options, scratch } = exchange.engine;
  const model = requiredText(body, 'model');
  if (model !== options.modelName) throw unknownModel(model);
  writeMessagePrompt(body, scratch);
  exchange.sendJson(200, { input_tokens: tokensOfBytes(scratch.length) });
}

function writeMessagePrompt(body: JsonObject, out: PromptBytes): void {
  out.clear();
  writePrompt('messages', body, out);
  out.add('<|im_start|>assistant');
  out.fillToken();
}

/** The parameters of a message under the names of a completion. */
function generationOf(body: JsonObject): JsonObject {
  if (body.max_tokens == null) throw new ApiError('malformed', "'max_tokens' is required.", 'max_tokens');
  const { ignore_eos, max_tokens, model, stop_sequences, stream } = body;
  return { ignore_eos, max_tokens, model, stop: stop_sequences, stream };
}

function readFor(engine: Engine, body: JsonObject): GenerationRequest {
  const request = readGenerationRequest(body);
  if (request.model !== engine.options.modelName) throw unknownModel(request.model);
  engine.metrics.choices.observe(request.n);
  if (request.maxTokens !== null) engine.metrics.maxTokens.observe(request.maxTokens);
  return request;
}

/** The responses to the prompts of a request, planned one prompt after the other. */
class Planned {
  readonly choices: Choice[] = [];
  promptTokens = 0;
  readonly #engine: Engine;
  readonly #job: GenerationJob;
  readonly #request: GenerationRequest;

  constructor(engine: Engine, job: GenerationJob, request: GenerationRequest) {
    this.#engine = engine;
    this.#job = job;
    this.#request = request;
  }

  /** The prompt in the engine's scratch buffer; `before` precedes its responses. */
  add(before: string): void {
    const { config, seed, meanOutputTokens } = this.#engine.options;
    const { n, maxTokens, cacheSalt } = this.#request;
    const salt = cacheSalt === '' ? 0 : hashText(cacheSalt, 1);
    const plan = new PromptPlan(this.#engine.scratch, config.blockSize, salt);
    this.#engine.admit(plan.tokens);
    const room = config.maxModelLen - plan.tokens;
    if (maxTokens !== null && maxTokens > room) throw tooManyTokens(config.maxModelLen, plan.tokens, maxTokens);
    const most = Math.max(1, maxTokens ?? room);
    const hash = plan.hash();
    for (let i = 0; i < n; i++) {
      const responseSeed = hashText(`${hash} ${this.#request.seed ?? seed} ${i}`);
      const response = planResponse(this.#request, most, meanOutputTokens, responseSeed);
      const keys = plan.keys(response.text, response.tokens);
      const tokens = { input: plan.tokens, output: response.tokens };
      const sequence = new Sequence(this.#engine, this.#job, tokens, keys, response.finishReason, true);
      this.choices.push({ response, before, sequence });
    }
    this.promptTokens += plan.tokens;
  }
}
