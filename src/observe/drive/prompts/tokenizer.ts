import type { ServerClient } from '../client/server-client.js';
import { type ApiFormat, type PromptTurn, promptMember } from './prompt-turns.js';

/** A prompt as the server tokenizes it. */
export interface Tokenized {
  count: number;
  /** The token ids, if the server returns them. */
  ids: readonly number[] | null;
}

/** Counts the tokens of a prompt; null when the server cannot. */
export type Tokenizer = (turns: readonly PromptTurn[]) => Promise<Tokenized | null>;

/** The server's own tokenizer, under the names that vLLM and llama.cpp have for it. */
export function serverTokenizer(client: ServerClient, format: ApiFormat, model: string, timeoutMs: number): Tokenizer {
  return async (turns) => {
    // llama.cpp reads `content` and `add_special`, others pass over them.
    const own =
      format === 'chat'
        ? ''
        : `,"content":${JSON.stringify(turns.map(({ user }) => user).join(''))},"add_special":true`;
    const body = `{"model":${JSON.stringify(model)},${promptMember(format, turns)}${own}}`;
    const { text } = await client.ask('/tokenize', timeoutMs, body);
    if (text === undefined) return null;
    return readTokens(text);
  };
}

function readTokens(text: string): Tokenized | null {
  let body: { count?: unknown; tokens?: unknown } | null;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  const ids = Array.isArray(body?.tokens) && body.tokens.every(Number.isInteger) ? (body.tokens as number[]) : null;
  const count = Number.isInteger(body?.count) ? (body!.count as number) : (ids?.length ?? 0);
  return count > 0 ? { count, ids } : null;
}
