import type { Tokenizer } from './tokenizer.js';

/** With fewer words of one token each, too many prompts would have the same beginning. */
const FEWEST = 16;
/** Questions at the same time. */
const AT_ONCE = 8;

export interface UsableWords {
  words: readonly string[];
  tokensPerWord: number;
}

/** The words of a list that are one token each, if they are enough, else all with their mean; null without a tokenizer. */
export async function usableWords(list: readonly string[], tokenize: Tokenizer): Promise<UsableWords | null> {
  const tokensOf = async (words: readonly string[], times: number) => {
    const text = words.map((word) => ` ${word}`).join('');
    const [once, more] = await Promise.all([
      tokenize([{ user: text.repeat(times), response: null }]),
      tokenize([{ user: text.repeat(2 * times), response: null }]),
    ]);
    return once === null || more === null ? null : (more.count - once.count) / times;
  };
  const all = await tokensOf(list, 1);
  if (all === null || all <= 0) return null;
  if (all === list.length) return { words: list, tokensPerWord: 1 };
  const single: string[] = [];
  for (let from = 0; from < list.length; from += AT_ONCE) {
    const some = list.slice(from, from + AT_ONCE);
    const tokens = await Promise.all(some.map((word) => tokensOf([word], 4)));
    single.push(...some.filter((_, i) => tokens[i] === 1));
  }
  if (single.length >= FEWEST) return { words: single, tokensPerWord: 1 };
  return { words: list, tokensPerWord: all / list.length };
}
