import { type JsonObject, wrongType } from '../../protocol/json/json-body.js';
import { PromptBytes, TOKEN_BYTES, tokensOfBytes } from '../../protocol/prompt-bytes.js';
import { promptsOf, textOf, writeChat } from '../../protocol/write-prompt.js';
import type { EngineExchange } from './engine-exchange.js';

/** `POST /tokenize`: a token is four bytes, and its id says which. */
export function tokenize(exchange: EngineExchange, body: JsonObject): void {
  const { engine } = exchange;
  const bytes = engine.scratch;
  bytes.clear();
  if (body.messages === undefined) bytes.add(textOf(body.prompt, 'prompt'));
  else writeChat(body, bytes);
  const count = tokensOfBytes(bytes.length);
  const view = bytes.view();
  const tokens = Array.from({ length: count }, (_, i) =>
    view.readUIntLE(i * TOKEN_BYTES, Math.min(TOKEN_BYTES, view.length - i * TOKEN_BYTES)),
  );
  exchange.sendJson(200, { count, max_model_len: engine.options.config.maxModelLen, tokens, token_strs: null });
}

/** `POST /detokenize` */
export function detokenize(exchange: EngineExchange, body: JsonObject): void {
  const [ids] = Array.isArray(body.tokens) && body.tokens.length === 0 ? [[]] : promptsOf(body.tokens, 'tokens');
  if (typeof ids === 'string') throw wrongType('tokens', 'a list of token ids');
  const bytes = new PromptBytes();
  bytes.addTokens(ids!);
  exchange.sendJson(200, { prompt: bytes.view().toString().replace(/\0+$/, '') });
}
