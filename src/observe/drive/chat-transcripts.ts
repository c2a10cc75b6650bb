import type { PromptTurn } from './prompt-turns.js';

interface Transcript {
  turns: readonly PromptTurn[];
  /** The row whose answer the last turn waits for, and the lengths of its prompt and answer: planned, then as counted. */
  row: number;
  promptTokens: number;
  answerTokens: number;
}

/** What was said so far in the chats whose prompts hold it. */
export class ChatTranscripts {
  readonly #chats = new Map<number, Transcript>();

  asked(session: number, row: number, turns: readonly PromptTurn[], promptTokens: number, answerTokens: number): void {
    this.#chats.set(session, { turns, row, promptTokens, answerTokens });
  }

  /** What was asked in a row, if that was the last. */
  lastAsked(session: number, row: number): readonly PromptTurn[] | undefined {
    const chat = this.#chats.get(session);
    return chat?.row === row ? chat.turns : undefined;
  }

  /** The answer to a row has come; negative counts are unknown ones. */
  answered(session: number, row: number, answer: string, promptTokens: number, answerTokens: number): void {
    const chat = this.#chats.get(session);
    // The next turn may have gone out before, with something else in its place.
    if (chat?.row !== row) return;
    chat.turns = withAnswer(chat.turns, answer);
    if (promptTokens >= 0) chat.promptTokens = promptTokens;
    if (answerTokens >= 0) chat.answerTokens = answerTokens;
  }

  /** The turns so far, all with an answer, and their tokens. @param standIn for an answer that has not come */
  past(
    session: number,
    standIn: (row: number) => string,
  ): { turns: readonly PromptTurn[]; tokens: number } | undefined {
    const chat = this.#chats.get(session);
    if (chat === undefined) return undefined;
    const { answerTokens, promptTokens, row, turns } = chat;
    const complete = turns.at(-1)!.answer === null ? withAnswer(turns, standIn(row)) : turns;
    return { turns: complete, tokens: promptTokens + answerTokens };
  }

  /** The chat is over. */
  forget(session: number): void {
    this.#chats.delete(session);
  }
}

function withAnswer(turns: readonly PromptTurn[], answer: string): PromptTurn[] {
  return [...turns.slice(0, -1), { ...turns.at(-1)!, answer }];
}
