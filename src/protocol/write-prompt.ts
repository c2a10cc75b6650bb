import { createHash } from 'node:crypto';
import type { ApiKind } from './endpoints.js';
import { ApiError } from './errors.js';
import { isObject, type JsonObject, wrongType } from './json/json-body.js';
import type { PromptBytes } from './prompt-bytes.js';

/** One prompt of a request: text, or token ids. */
export type Prompt = string | readonly number[];

/**
 * Writes everything in a request that the model reads, in the order of a chat template: tools, then the messages.
 * Requests whose bytes begin alike share that beginning in an engine's cache.
 */
export function writePrompt(kind: ApiKind, body: JsonObject, out: PromptBytes): void {
  switch (kind) {
    case 'chat':
      writeChat(body, out);
      return;
    case 'messages':
      writeTools(body.tools, out);
      if (body.system !== undefined) writeMessage('system', body.system, undefined, out);
      writeMessages(body.messages, 'messages', out);
      return;
    case 'responses':
      writeTools(body.tools, out);
      if (body.instructions != null) writeMessage('system', body.instructions, undefined, out);
      if (typeof body.input === 'string') writeMessage('user', body.input, undefined, out);
      else writeMessages(body.input, 'input', out);
      return;
    case 'completion':
      for (const prompt of promptsOf(body.prompt, 'prompt')) writePlain(prompt, out);
      return;
    case 'embedding':
      for (const prompt of promptsOf(body.input, 'input')) writePlain(prompt, out);
      return;
    case 'pooling':
    case 'classify':
    case 'moderation':
      writeInput(body, out);
      return;
    case 'speech':
      out.add(textOf(body.input, 'input'));
      return;
    case 'image':
      out.add(textOf(body.prompt, 'prompt'));
      return;
    case 'count-tokens':
    case 'tokenize':
    case 'detokenize':
    case 'transcription':
    case 'translation':
    case 'stored-response':
    case 'other':
      // The model reads nothing, no text, or it is unknown what.
      return;
    case 'rerank':
      for (const prompt of [textOf(body.query, 'query'), ...documentsOf(body)]) out.add(prompt);
      return;
    case 'score':
      for (const field of ['text_1', 'text_2']) for (const text of textsOf(body[field], field)) out.add(text);
  }
}

/** An input that may be a chat as well, and whose texts may be parts of a message. */
function writeInput(body: JsonObject, out: PromptBytes): void {
  if (body.messages !== undefined) writeChat(body, out);
  else if (Array.isArray(body.input) && isObject(body.input[0])) for (const part of body.input) writePart(part, out);
  else for (const prompt of promptsOf(body.input, 'input')) writePlain(prompt, out);
}

export function writePlain(prompt: Prompt, out: PromptBytes): void {
  if (typeof prompt === 'string') out.add(prompt);
  else out.addTokens(prompt);
}

/**
 * A session up to where the response begins. Responses begin at a whole token, and a response that a later turn repeats
 * has the same place: that turn's bytes begin with this turn's and its response.
 */
export function writeChat(body: JsonObject, out: PromptBytes): void {
  writeTools(body.tools, out);
  writeMessages(body.messages, 'messages', out);
  out.add('<|im_start|>assistant');
  out.fillToken();
}

function writeTools(tools: unknown, out: PromptBytes): void {
  if (tools == null) return;
  if (!Array.isArray(tools)) throw wrongType('tools', 'a list');
  if (tools.length > 0) out.add(`<|im_start|>tools\n${JSON.stringify(tools)}<|im_end|>\n`);
}

function writeMessages(messages: unknown, field: string, out: PromptBytes): void {
  if (!Array.isArray(messages)) throw wrongType(field, 'a list of messages');
  if (messages.length === 0) throw new ApiError('malformed', `'${field}' must not be empty.`, field);
  for (const message of messages) {
    if (!isObject(message)) throw wrongType(field, 'a list of objects');
    const role = message.role ?? message.type;
    if (typeof role !== 'string') throw new ApiError('malformed', `Each of '${field}' needs a 'role'.`, field);
    writeMessage(role, message.content, message.tool_calls, out);
  }
}

function writeMessage(role: string, content: unknown, calls: unknown, out: PromptBytes): void {
  out.add('<|im_start|>');
  out.add(role);
  if (role === 'assistant') out.fillToken();
  else out.add('\n');
  if (typeof content === 'string') out.add(content);
  else if (Array.isArray(content)) for (const part of content) writePart(part, out);
  else if (content != null) throw wrongType('content', 'a string or a list of parts');
  if (calls != null) out.add(JSON.stringify(calls));
  out.add('<|im_end|>\n');
}

function writePart(part: unknown, out: PromptBytes): void {
  if (typeof part === 'string') out.add(part);
  else if (!isObject(part)) throw wrongType('content', 'a string or a list of parts');
  else if (typeof part.text === 'string') out.add(part.text);
  else out.add(mark(part));
}

/** An image or another part that is not text: a mark that is the same for the same content. */
function mark(part: JsonObject): string {
  const type = typeof part.type === 'string' ? part.type : 'part';
  return `<|${type}:${createHash('sha256').update(JSON.stringify(part)).digest('hex').slice(0, 16)}|>`;
}

/** The prompts of a plain completion or the inputs of an embedding: one or several, as text or as token ids. */
export function promptsOf(value: unknown, field: string): readonly Prompt[] {
  if (typeof value === 'string') return [value];
  if (value == null) throw new ApiError('malformed', `'${field}' is required.`, field);
  if (!Array.isArray(value) || value.length === 0) {
    throw wrongType(field, 'a string, a list of strings, a list of token ids or a list of such lists');
  }
  if (typeof value[0] === 'number') return [tokensOf(value, field)];
  return value.map((one) => (typeof one === 'string' ? one : tokensOf(one, field)));
}

function tokensOf(value: unknown, field: string): readonly number[] {
  if (!Array.isArray(value) || !value.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 32)) {
    throw wrongType(field, 'a string, a list of strings, a list of token ids or a list of such lists');
  }
  return value;
}

/** The texts of a rerank request's documents. */
export function documentsOf(body: JsonObject): readonly string[] {
  return textsOf(body.documents, 'documents');
}

/** One text or a list of them; texts may also be given as objects with a `text`. */
export function textsOf(value: unknown, field: string): readonly string[] {
  if (value == null) throw new ApiError('malformed', `'${field}' is required.`, field);
  return Array.isArray(value) ? value.map((one) => textOf(one, field)) : [textOf(value, field)];
}

export function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  if (isObject(value) && typeof value.text === 'string') return value.text;
  if (value == null) throw new ApiError('malformed', `'${field}' is required.`, field);
  throw wrongType(field, 'text');
}
