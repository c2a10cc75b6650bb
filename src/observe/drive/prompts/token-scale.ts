/** How many tokens a server counts for the words of a prompt. */
export interface TokenScale {
  /** The words of the list that prompts consist of. */
  words: readonly string[];
  /** Tokens of one word. */
  tokensPerWord: number;
  /** A single letter after a word is one token: it fills up less than a word. */
  hasLetters: boolean;
  /** Tokens that the server puts before and behind the text of every prompt. */
  headTokens: number;
  tailTokens: number;
  /** Tokens in the count of whole requests that the tokenizer does not count; part of the tail. */
  uncountedTokens: number;
  /** Tokens that the server adds between a response and the next turn, and after that. */
  turnTokens: number;
  /** The source: the server's tokenizer, its counts of whole requests, or neither. */
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

/** Whole words and single letters for this many tokens, or nearly. */
export function wordsFor(
  { hasLetters, tokensPerWord }: TokenScale,
  tokens: number,
): { words: number; letters: number } {
  if (tokens <= 0) return { words: 0, letters: 0 };
  if (!hasLetters) return { words: Math.round(tokens / tokensPerWord), letters: 0 };
  const words = Math.floor(tokens / tokensPerWord);
  return { words, letters: Math.round(tokens - words * tokensPerWord) };
}
