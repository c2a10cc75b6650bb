/** How many tokens a server makes of the words of a prompt. */
export interface TokenScale {
  /** Those of the list that prompts are made of. */
  words: readonly string[];
  /** Tokens of one word. */
  tokensPerWord: number;
  /** A single letter behind a word is a token of its own: what is less than a word can be filled up. */
  hasLetters: boolean;
  /** Tokens that the server puts before and behind the text of every prompt. */
  headTokens: number;
  tailTokens: number;
  /** Tokens that whole requests are counted with besides those that the tokenizer counts; part of the tail. */
  uncountedTokens: number;
  /** Tokens that the server puts between a response and the next turn of a chat, and behind that. */
  turnTokens: number;
  /** Who said so: the server's tokenizer, its counts of whole requests, or nobody. */
  by: 'tokenize' | 'usage' | 'assumed';
}

/** A word is a token, and nothing is added. */
export function plainScale(words: readonly string[]): TokenScale {
  return {
    words,
    tokensPerWord: 1,
    hasLetters: false,
    headTokens: 0,
    tailTokens: 0,
    uncountedTokens: 0,
    turnTokens: 0,
    by: 'assumed',
  };
}

/** Whole words and single letters that make so many tokens, or nearly. */
export function wordsFor(
  { hasLetters, tokensPerWord }: TokenScale,
  tokens: number,
): { words: number; letters: number } {
  if (tokens <= 0) return { words: 0, letters: 0 };
  if (!hasLetters) return { words: Math.round(tokens / tokensPerWord), letters: 0 };
  const words = Math.floor(tokens / tokensPerWord);
  return { words, letters: Math.round(tokens - words * tokensPerWord) };
}
