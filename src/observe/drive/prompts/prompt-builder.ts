import { type RequestTable, ROW_GROWS_CONTEXT } from '../../../workload/request-table.js';
import type { PromptTurn } from './prompt-turns.js';
import { PIECE, type PieceKind, PromptWords } from './prompt-words.js';
import { SessionTranscripts } from './session-transcripts.js';
import { type TokenScale, wordsFor } from './token-scale.js';

/**
 * Builds the prompts of a plan, with the planned lengths by the server's count, sharing what they share in the
 * simulator: the prefix of a group, recorded blocks, the context of a growing session. Nothing else is shared by any
 * two.
 */
export class PromptBuilder {
  readonly chats = new SessionTranscripts();
  readonly #table: RequestTable;
  readonly #scale: TokenScale;
  readonly #texts: PromptWords;
  /** By row: correction of the number of tokens. */
  readonly #corrections = new Map<number, number>();

  constructor(table: RequestTable, scale: TokenScale, salt: number) {
    this.#table = table;
    this.#scale = scale;
    this.#texts = new PromptWords(scale.words, salt);
  }

  /** Whether the prompt needs the earlier turns of its session. */
  continues(row: number): boolean {
    return this.#grows(row) && this.#table.round[row]! > 0;
  }

  /** Makes the prompt longer by this many tokens, or shorter. */
  correct(row: number, tokens: number): void {
    this.#corrections.set(row, tokens);
  }

  /** The prompt of a row, as its turns. A growing session remembers it. */
  turns(row: number): readonly PromptTurn[] {
    const { session } = this.#table;
    if (!this.#grows(row)) return [{ user: this.#whole(row), response: null }];
    const asked = this.continues(row) ? this.chats.lastAsked(session[row]!, row) : undefined;
    if (asked !== undefined) return asked;
    const past = this.continues(row) ? this.chats.past(session[row]!, this.#standIn) : undefined;
    const user = past === undefined ? this.#whole(row) : this.#next(row, past.tokens);
    const turns = [...(past?.turns ?? []), { user, response: null }];
    this.chats.asked(session[row]!, row, turns, this.#table.inputTokens[row]!, this.#table.outputTokens[row]!);
    return turns;
  }

  /** A prompt as long as a row's that shares nothing with any of the plan. */
  unplanned(row: number, n: number): readonly PromptTurn[] {
    const { headTokens, tailTokens } = this.#scale;
    const tokens = this.#table.inputTokens[row]! - headTokens - tailTokens;
    return [{ user: this.#piece(PIECE.probe, 16 + n, tokens), response: null }];
  }

  #grows(row: number): boolean {
    return (this.#table.flags[row]! & ROW_GROWS_CONTEXT) !== 0;
  }

  /** A prompt without a past: shared beginning, then what is the row's own. */
  #whole(row: number): string {
    const { headTokens, tailTokens } = this.#scale;
    const { blocks, inputTokens, prefixGroup, prefixTokens } = this.#table;
    const tokens = inputTokens[row]! - headTokens - tailTokens + (this.#corrections.get(row) ?? 0);
    const recorded = blocks?.blocksOf(row) ?? 0;
    let text = '';
    let made = 0;
    for (let i = 0; i < recorded && made < tokens; i++) {
      // The head that the server adds is part of the first block.
      const end = (i + 1) * blocks!.blockTokens - headTokens;
      if (end <= made) continue;
      text += this.#piece(PIECE.block, blocks!.block(row, i), Math.min(end, tokens) - made);
      made = Math.min(end, tokens);
    }
    const group = prefixGroup[row]!;
    if (recorded === 0 && group > 0) {
      made = Math.max(0, Math.min(prefixTokens[group]! - headTokens, tokens));
      text = this.#piece(PIECE.group, group, made);
    }
    // An empty prompt is refused by most.
    const own = Math.max(tokens - made, text === '' ? this.#scale.tokensPerWord : 0);
    return text + this.#piece(PIECE.row, row, own);
  }

  #next(row: number, pastTokens: number): string {
    const { tokensPerWord, turnTokens } = this.#scale;
    const tokens = this.#table.inputTokens[row]! - pastTokens - turnTokens;
    return this.#piece(PIECE.row, row, Math.max(tokens, tokensPerWord));
  }

  /** The replacement of a response that is not complete. */
  readonly #standIn = (row: number): string => this.#piece(PIECE.standIn, row, this.#table.outputTokens[row]!);

  #piece(kind: PieceKind, id: number, tokens: number): string {
    const { letters, words } = wordsFor(this.#scale, tokens);
    const text = this.#texts.piece(kind, id, words);
    return letters === 0 ? text : text + this.#texts.letters(id, letters);
  }
}
