import type { PromptTurn } from './prompt-turns.js';
import { PIECE, PromptWords } from './prompt-words.js';
import { plainScale, type TokenScale } from './token-scale.js';
import type { Tokenized, Tokenizer } from './tokenizer.js';
import { usableWords } from './usable-words.js';

/** Prompts to measure with: long enough for a ratio, short enough for the smallest context. */
const SHORT = 16;
const LONG = 64;
const LONGEST = 112;
/** A ratio beyond these is believed only if it is the same twice. */
const USUAL_RATIO = { min: 1, max: 3 };
const SAME = 0.02;

/** Counts the prompt tokens of a whole request; null when the server does not report them. */
export type UsageCounter = (turns: readonly PromptTurn[]) => Promise<number | null>;

/** What counting takes. */
export interface ScaleProbe {
  isChat: boolean;
  tokenize: Tokenizer;
  usage: UsageCounter;
  salt: number;
}

/**
 * Measures how many tokens prompts have. The server's tokenizer shows which words are one token, and what the server
 * adds to a text; without it the counts of a few whole requests give averages.
 */
export async function measureScale(list: readonly string[], probe: ScaleProbe): Promise<TokenScale> {
  const usable = await usableWords(list, probe.tokenize);
  if (usable === null) return byUsage(list, probe);
  const { tokensPerWord, words } = usable;
  const texts = new PromptWords(words, probe.salt);
  const long = turnOf(texts, 0, LONG);
  const [one, other] = await Promise.all([probe.tokenize(long), probe.tokenize(turnOf(texts, 1, LONG))]);
  if (one === null || other === null) return byUsage(list, probe);
  const around = Math.max(0, Math.round(one.count - LONG * tokensPerWord));
  const headTokens = probe.isChat ? Math.min(around, commonHead(one, other)) : around;
  // What a whole request is counted as is what counts.
  const counted = (await probe.usage(long)) ?? one.count;
  return {
    words,
    tokensPerWord,
    hasLetters: tokensPerWord > 1 && (await countsLetters(probe.tokenize, texts, one)),
    headTokens,
    tailTokens: around - headTokens + counted - one.count,
    uncountedTokens: counted - one.count,
    turnTokens: probe.isChat ? await measureTurn(probe.tokenize, texts, tokensPerWord) : 0,
    by: 'tokenize',
  };
}

function turnOf(texts: PromptWords, id: number, words: number): PromptTurn[] {
  return [{ user: texts.piece(PIECE.probe, id, words), response: null }];
}

/** Tokens that two prompts with different texts begin with. */
function commonHead({ ids: a }: Tokenized, { ids: b }: Tokenized): number {
  let n = 0;
  while (a !== null && b !== null && n < a.length && a[n] === b[n]) n++;
  return n;
}

async function countsLetters(tokenize: Tokenizer, texts: PromptWords, { count }: Tokenized): Promise<boolean> {
  const [turn] = turnOf(texts, 0, LONG);
  const longer = await tokenize([{ user: `${turn!.user}abc`, response: null }]);
  return longer?.count === count + 3;
}

/** The tokens between a response and the next turn, measured in a session of two turns. */
async function measureTurn(tokenize: Tokenizer, texts: PromptWords, tokensPerWord: number): Promise<number> {
  const [first, next] = [...turnOf(texts, 2, SHORT), ...turnOf(texts, 3, SHORT)];
  const response = texts.piece(PIECE.probe, 4, SHORT);
  const [alone, both] = await Promise.all([tokenize([first!]), tokenize([{ ...first!, response }, next!])]);
  if (alone === null || both === null) return 0;
  return Math.max(0, Math.round(both.count - alone.count - 2 * SHORT * tokensPerWord));
}

async function byUsage(list: readonly string[], { isChat, salt, usage }: ScaleProbe): Promise<TokenScale> {
  const texts = new PromptWords(list, salt);
  const plain = plainScale(list);
  const short = await usage(turnOf(texts, 0, SHORT));
  const long = short === null ? null : await usage(turnOf(texts, 1, LONG));
  if (short === null || long === null) return plain;
  let ratio = (long - short) / (LONG - SHORT);
  if (!(ratio >= USUAL_RATIO.min && ratio <= USUAL_RATIO.max)) {
    const longest = (await usage(turnOf(texts, 2, LONGEST))) ?? 0;
    const again = (longest - long) / (LONGEST - LONG);
    if (!(ratio > 0 && Math.abs(again / ratio - 1) <= SAME)) ratio = 1;
  }
  const around = Math.max(0, Math.round(long - LONG * ratio));
  const [headTokens, tailTokens] = isChat ? [0, around] : [around, 0];
  return { ...plain, tokensPerWord: ratio, headTokens, tailTokens, by: 'usage' };
}
