import type { PromptTurn } from './prompt-turns.js';

interface Transcript {
  turns: readonly PromptTurn[];
  /**
   * The row whose response the last turn waits for, and the lengths of its prompt and response: planned, then as
   * counted.
   */
  row: number;
  promptTokens: number;
  responseTokens: number;
}

/** The messages so far of sessions whose prompts include them. */
export class SessionTranscripts {
  readonly #chats = new Map<number, Transcript>();

  asked(
    session: number,
    row: number,
    turns: readonly PromptTurn[],
    promptTokens: number,
    responseTokens: number,
  ): void {
    this.#chats.set(session, { turns, row, promptTokens, responseTokens });
  }

  /** The prompt of a row, if it is the last one. */
  lastAsked(session: number, row: number): readonly PromptTurn[] | undefined {
    const chat = this.#chats.get(session);
    return chat?.row === row ? chat.turns : undefined;
  }

  /** The response to a row is complete; negative counts are unknown. */
  answered(session: number, row: number, response: string, promptTokens: number, responseTokens: number): void {
    const chat = this.#chats.get(session);
    // The next turn may have gone out before, with something else in its place.
    if (chat?.row !== row) return;
    chat.turns = withResponse(chat.turns, response);
    if (promptTokens >= 0) chat.promptTokens = promptTokens;
    if (responseTokens >= 0) chat.responseTokens = responseTokens;
  }

  /** The turns so far, all with a response, and their tokens. @param standIn for a response that has not come */
  past(
    session: number,
    standIn: (row: number) => string,
  ): { turns: readonly PromptTurn[]; tokens: number } | undefined {
    const chat = this.#chats.get(session);
    if (chat === undefined) return undefined;
    const { responseTokens, promptTokens, row, turns } = chat;
    const complete = turns.at(-1)!.response === null ? withResponse(turns, standIn(row)) : turns;
    return { turns: complete, tokens: promptTokens + responseTokens };
  }

  /** The session has ended. */
  forget(session: number): void {
    this.#chats.delete(session);
  }
}

function withResponse(turns: readonly PromptTurn[], response: string): PromptTurn[] {
  return [...turns.slice(0, -1), { ...turns.at(-1)!, response }];
}
