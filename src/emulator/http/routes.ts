import type { JsonObject } from '../../protocol/json/json-body.js';
import type { EngineExchange } from './engine-exchange.js';
import { changeFaults, health, metrics, model, models, showFaults, showVersion } from './facts.js';
import { chat, complete, countTokens, message } from './generate.js';
import { embed, rerank, score } from './pool.js';
import { detokenize, tokenize } from './tokenize.js';

/** The handler of a path. */
export interface Route {
  /** Served even by an engine that is starting, closing or frozen. */
  always?: boolean;
  get?: (exchange: EngineExchange) => void;
  post?: (exchange: EngineExchange, body: JsonObject, breaks: boolean) => void;
  /** Requests that faults happen to. */
  serves?: boolean;
}

/** The route of a path, if there is one. */
export function routeAt(path: string): Route | undefined {
  return path.startsWith('/v1/models/') ? { get: model } : ROUTES.get(path);
}

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/v1/chat/completions', { post: chat, serves: true }],
  ['/v1/completions', { post: complete, serves: true }],
  ['/v1/messages', { post: message, serves: true }],
  ['/v1/messages/count_tokens', { post: countTokens }],
  ['/v1/embeddings', { post: embed, serves: true }],
  ['/v1/rerank', { post: rerank, serves: true }],
  ['/rerank', { post: rerank, serves: true }],
  ['/v1/score', { post: score, serves: true }],
  ['/score', { post: score, serves: true }],
  ['/tokenize', { post: tokenize }],
  ['/detokenize', { post: detokenize }],
  ['/v1/models', { get: models }],
  ['/health', { get: health }],
  ['/ping', { get: health }],
  ['/version', { get: showVersion }],
  ['/metrics', { get: metrics }],
  ['/admin/faults', { get: showFaults, post: changeFaults, always: true }],
]);
