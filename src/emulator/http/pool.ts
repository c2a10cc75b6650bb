import { ApiError } from '../../protocol/errors.js';
import { type JsonObject, optionalText, optionalWhole, requiredText } from '../../protocol/json/json-body.js';
import { documentsOf, promptsOf, textOf, textsOf, writePlain } from '../../protocol/write-prompt.js';
import { unknownModel } from '../errors.js';
import { PromptPlan } from '../prompt-plan.js';
import { similarity, textVector } from '../text-vector.js';
import type { EngineExchange } from './engine-exchange.js';
import { PoolingJob } from './pooling-job.js';

const DIMENSIONS = 256;
const MAX_DIMENSIONS = 4096;

/** `POST /v1/embeddings` */
export function embed(exchange: EngineExchange, body: JsonObject, breaks: boolean): void {
  const model = modelOf(exchange, body);
  const dimensions = optionalWhole(body, 'dimensions', 1, MAX_DIMENSIONS) ?? DIMENSIONS;
  const encoding = optionalText(body, 'encoding_format') ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64') {
    throw new ApiError('malformed', "'encoding_format' must be float or base64.", 'encoding_format');
  }
  const texts: string[] = [];
  const job = new PoolingJob(exchange, (tokens) => ({
    id: exchange.id('embd'),
    object: 'list',
    created: exchange.created,
    model,
    data: texts.map((text, index) => {
      const vector = textVector(text, dimensions);
      const embedding = encoding === 'float' ? [...vector] : Buffer.from(vector.buffer).toString('base64');
      return { index, object: 'embedding', embedding };
    }),
    usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0, prompt_tokens_details: null },
  }));
  const { scratch } = exchange.engine;
  for (const prompt of promptsOf(body.input, 'input')) {
    scratch.clear();
    writePlain(prompt, scratch);
    texts.push(scratch.view().toString());
    addPrompt(exchange, job);
  }
  job.start(breaks);
}

/** `POST /v1/rerank` */
export function rerank(exchange: EngineExchange, body: JsonObject, breaks: boolean): void {
  const model = modelOf(exchange, body);
  const query = textOf(body.query, 'query');
  const documents = documentsOf(body);
  const most = optionalWhole(body, 'top_n', 0, Number.MAX_SAFE_INTEGER) || documents.length;
  const job = new PoolingJob(exchange, (tokens) => ({
    id: exchange.id('rerank'),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    results: documents
      .map((text, index) => ({ index, document: { text }, relevance_score: similarity(query, text) }))
      .sort((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, most),
  }));
  for (const document of documents) addPair(exchange, job, query, document);
  job.start(breaks);
}

/** `POST /v1/score` */
export function score(exchange: EngineExchange, body: JsonObject, breaks: boolean): void {
  const model = modelOf(exchange, body);
  const first = textsOf(body.text_1, 'text_1');
  const second = textsOf(body.text_2, 'text_2');
  if (first.length !== 1 && first.length !== second.length) {
    throw new ApiError('malformed', "'text_1' must be one text, or as many as 'text_2'.", 'text_1');
  }
  const pairs = second.map((text, i) => [first.length === 1 ? first[0]! : first[i]!, text] as const);
  const job = new PoolingJob(exchange, (tokens) => ({
    id: exchange.id('score'),
    object: 'list',
    created: exchange.created,
    model,
    data: pairs.map(([a, b], index) => ({ index, object: 'score', score: similarity(a, b) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0, prompt_tokens_details: null },
  }));
  for (const [a, b] of pairs) addPair(exchange, job, a, b);
  job.start(breaks);
}

function modelOf({ engine }: EngineExchange, body: JsonObject): string {
  const model = requiredText(body, 'model');
  if (model !== engine.options.modelName) throw unknownModel(model);
  return model;
}

function addPair(exchange: EngineExchange, job: PoolingJob, a: string, b: string): void {
  const { scratch } = exchange.engine;
  scratch.clear();
  scratch.add(a);
  scratch.add('\n');
  scratch.add(b);
  addPrompt(exchange, job);
}

/** The prompt that the scratch buffer holds. */
function addPrompt({ engine }: EngineExchange, job: PoolingJob): void {
  const plan = new PromptPlan(engine.scratch, engine.options.config.blockSize, 0);
  engine.admit(plan.tokens);
  job.add(plan.tokens, plan.keys('', 1));
}
