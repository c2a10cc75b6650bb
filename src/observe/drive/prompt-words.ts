import { randomStream } from '../../kernel/random-stream.js';

/** What a piece of a prompt belongs to: pieces of different owners have nothing in common. */
export const PIECE = { group: 0, block: 1, row: 2, chat: 3, standIn: 4, probe: 5 } as const;

export type PieceKind = (typeof PIECE)[keyof typeof PIECE];

const KINDS = 8;
/** Numbers below 10 to this power can be spelt. */
const DIGITS = 10;

/**
 * The texts that prompts are made of. A piece is known by its kind and number: the same one is the same text as far as it goes, and
 * two different ones differ from their first words on, which spell the number. What follows is drawn at random, with a salt of
 * the run's own: a server that was asked before has none of it in its cache.
 */
export class PromptWords {
  readonly words: readonly string[];
  readonly #salt: number;
  /** Words that spell a number. */
  readonly #spelling: number;

  constructor(words: readonly string[], salt: number) {
    this.words = words;
    this.#salt = salt;
    this.#spelling = Math.ceil(DIGITS / Math.log10(words.length));
  }

  /** The first `count` words of a piece, each with a space before it. */
  piece(kind: PieceKind, id: number, count: number): string {
    const { words } = this;
    const base = words.length;
    const random = randomStream(this.#salt, `${kind} ${id}`);
    let number = id * KINDS + kind;
    let text = '';
    for (let i = 0; i < count; i++) {
      const spells = i < this.#spelling;
      text += ` ${words[spells ? number % base : random.below(base)]}`;
      if (spells) number = Math.floor(number / base);
    }
    return text;
  }

  /** Letters that stand for tokens where a word takes several. */
  letters(id: number, count: number): string {
    const random = randomStream(this.#salt, `letters ${id}`);
    let text = '';
    for (let i = 0; i < count; i++) text += String.fromCharCode(97 + random.below(26));
    return text;
  }
}
