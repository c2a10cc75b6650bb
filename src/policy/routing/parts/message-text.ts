import { canonicalJson } from '../../../kernel/text/canonical-json.js';
import type { RequestBody } from '../../request-features.js';

interface Message {
  role?: unknown;
  content?: unknown;
}

/** The messages of a request body, null when it has none. */
export function messagesOf(body: RequestBody): readonly unknown[] | null {
  const { messages } = body;
  return Array.isArray(messages) && messages.length > 0 ? messages : null;
}

/** The first system message; empty when there is none. */
export function systemPrompt(messages: readonly unknown[]): string {
  const first = messages.find((message) => roleOf(message) === 'system');
  return first === undefined ? '' : contentText((first as Message).content);
}

/** The first user messages, `most` of them. */
export function userMessages(messages: readonly unknown[], most: number): string[] {
  const texts: string[] = [];
  for (let i = 0; i < messages.length && texts.length < most; i++) {
    if (roleOf(messages[i]) === 'user') texts.push(contentText((messages[i] as Message).content));
  }
  return texts;
}

/** The first user message, else the prompt, else the whole body. */
export function openingText(body: RequestBody): string {
  const messages = messagesOf(body);
  if (messages !== null) return userMessages(messages, 1)[0] ?? '';
  return typeof body.prompt === 'string' ? body.prompt : canonicalJson(body);
}

function roleOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null ? (message as Message).role : undefined;
}

/** Content may consist of parts: they are joined without a separator, parts that are not text as JSON. */
function contentText(content: unknown): string {
  if (content === undefined || content === null) return '';
  return Array.isArray(content) ? content.map(partText).join('') : partText(content);
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (typeof part === 'object' && part !== null) {
    const { type, text } = part as { type?: unknown; text?: unknown };
    if (type === 'text' && typeof text === 'string') return text;
  }
  return canonicalJson(part);
}
