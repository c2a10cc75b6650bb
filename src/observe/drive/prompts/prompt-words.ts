import { randomStream } from '../../../kernel/random-stream.js';

/**
 * A hundred common words of three letters. With the space before them they are one token each in the vocabularies of
 * most models, and four bytes: the length of a prompt is nearly exact before any server has counted it.
 */
export const WORDS: readonly string[] = [
  'the and for are but not you all any can had her was one our out day get has hat hit how man new now',
  'old see two way who boy did its let put say sum too use big box car cat cup dog ear eye far few fly',
  'fun got hot ice job key law leg lot low map may men mix net oil own pay pen per red run sea set sir',
  'sit six sky son sun tax tea ten top try war wet win yes yet air arm art bad bag bar bed bit ago aid',
]
  .join(' ')
  .split(' ');

/** The owner of a piece of a prompt: pieces of different owners have nothing in common. */
export const PIECE = { group: 0, block: 1, row: 2, chat: 3, standIn: 4, probe: 5 } as const;

export type PieceKind = (typeof PIECE)[keyof typeof PIECE];

const KINDS = 8;
/** Numbers below 10 to this power can be spelt. */
const DIGITS = 10;

/**
 * The texts of prompts. A piece has a kind and a number: the same piece has the same text up to any length, and two
 * different ones differ from their first words on, which spell the number. The other words are random, with a salt for
 * each run: they are in no cache from an earlier run.
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

  /** Letters for tokens where a word has several. */
  letters(id: number, count: number): string {
    const random = randomStream(this.#salt, `letters ${id}`);
    let text = '';
    for (let i = 0; i < count; i++) text += String.fromCharCode(97 + random.below(26));
    return text;
  }
}
