import type { RandomStream } from '../kernel/random-stream.js';
import { TOKEN_BYTES } from '../protocol/token-estimate.js';
import { FIRST, INNER, LAST } from './words.js';

/**
 * Sentences of exactly so many tokens, the last of which may be cut off. One sentence ends with token number `endAt`, where the
 * response ends if it is let. The same stream gives the same beginning whatever the number of tokens.
 */
export function responseText(random: RandomStream, endAt: number, tokens: number): string {
  let text = '';
  let made = 0;
  /** Words until the sentence ends, and whether the next one begins a sentence. */
  let left = 0;
  let begins = true;
  while (made < tokens) {
    const room = made < endAt ? endAt - made : Number.POSITIVE_INFINITY;
    if (begins) left = 4 + random.below(9);
    const ends = made > 0 && (room === 1 || left <= 0);
    const lists = ends ? LAST : INNER;
    const most = Math.min(lists.length, ends ? room : room - 1);
    const size = made === 0 ? 1 : Math.min(most, wordTokens(random.next()));
    const word = pick(random, made === 0 ? FIRST : lists[size - 1]!);
    text += made === 0 ? word : ` ${begins ? capital(word) : word}${ends ? '.' : ''}`;
    begins = ends;
    left--;
    made += size;
  }
  return text.slice(0, tokens * TOKEN_BYTES);
}

/** Most words are short. */
function wordTokens(x: number): number {
  if (x < 0.6) return 1;
  return x < 0.93 ? 2 : 3;
}

function pick(random: RandomStream, words: readonly string[]): string {
  return words[random.below(words.length)]!;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
