import type { RandomStream } from '../kernel/random-stream.js';
import { TOKEN_BYTES } from '../protocol/prompt-bytes.js';

/**
 * The vocabulary of responses. A token is four bytes, so words come in lengths that fill whole tokens together with the space
 * before them and the full stop behind them. Nothing here needs escaping in JSON.
 */
const list = (words: string) => words.split(' ');

/** The first word of a response: no space before it. */
export const FIRST = list('This That When Here Then Some Most Each Many Such Good Well');

/** Words inside a sentence, by the tokens they take. */
export const INNER: readonly (readonly string[])[] = [
  list(
    'the and for you can not but all new our has its was one two may use any few how why now see set way day end far old own ' +
      'who yet off too out big low top run put say ask try let get map bus car sea sun sky air key job law',
  ),
  list(
    'because between another example through without process request measure certain morning station pattern balance company ' +
      'history problem picture science service several whether nothing against general natural perhaps present reading weather',
  ),
  list('information development independent engineering performance temperature opportunity combination description'),
];

/** Last words of a sentence: a full stop follows. */
export const LAST: readonly (readonly string[])[] = [
  list('it so do us me on in up go is'),
  list('better system number answer people method change result moment detail growth market nature season window'),
];

/**
 * Sentences of exactly the given number of tokens, the last of which may be cut off. One sentence ends with token
 * number `endAt`, where a response without other limits ends. The same stream gives the same prefix for any number of
 * tokens.
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
