import { describe, expect, it } from 'vitest';
import { measureScale, type UsageCounter } from './measure-scale.js';
import type { PromptTurn } from './prompt-turns.js';
import { WORDS } from './prompt-words.js';
import { wordsFor } from './token-scale.js';
import type { Tokenizer } from './tokenizer.js';

const NO_TOKENIZER: Tokenizer = async () => null;
const NO_USAGE = async () => null;

function wordsIn(turns: readonly PromptTurn[]): string[] {
  return turns.flatMap(({ user, response }) => (user + (response ?? '')).split(' ').filter((word) => word !== ''));
}

/** A tokenizer by word: numbers of words with something before, between turns and behind. */
function byWord(tokensOf: (word: string) => number, head = 0, tail = 0, between = 0): Tokenizer {
  return async (turns) => {
    const ids = wordsIn(turns).flatMap((word) => new Array<number>(tokensOf(word)).fill(WORDS.indexOf(word) + 10));
    const around = [...new Array(head).fill(1), ...ids, ...new Array(tail + between * (turns.length - 1)).fill(2)];
    return { count: around.length, ids: around };
  };
}

/** Counts whole requests as a tokenizer does, and some tokens more. */
function usageOf(tokenize: Tokenizer, more = 0) {
  return async (turns: readonly PromptTurn[]) => (await tokenize(turns))!.count + more;
}

function measured(tokenize: Tokenizer, usage: UsageCounter = usageOf(tokenize), isChat = false) {
  return measureScale(WORDS, { isChat, tokenize, usage, salt: 1 });
}

describe('measureScale with a tokenizer', () => {
  it('takes all words where each is a token', async () => {
    expect(await measured(byWord(() => 1, 1))).toEqual({
      words: WORDS,
      tokensPerWord: 1,
      hasLetters: false,
      headTokens: 1,
      tailTokens: 0,
      uncountedTokens: 0,
      turnTokens: 0,
      by: 'tokenize',
    });
  });

  it('leaves words out that are several tokens', async () => {
    const scale = await measured(byWord((word) => (word.startsWith('b') ? 2 : 1)));
    expect(scale).toMatchObject({ tokensPerWord: 1, headTokens: 0 });
    expect(scale.words).toEqual(WORDS.filter((word) => !word.startsWith('b')));
  });

  it('takes the mean where hardly any word is one token', async () => {
    const scale = await measured(byWord((word) => (word < 'n' ? 2 : 3)));
    expect(scale.words).toBe(WORDS);
    expect(scale.tokensPerWord).toBeGreaterThan(2);
    expect(scale.tokensPerWord).toBeLessThan(3);
    expect(scale.hasLetters).toBe(false);
  });

  it('fills up with letters where bytes are tokens', async () => {
    const bytes: Tokenizer = async ([turn]) => ({ count: turn!.user.length + 1, ids: null });
    const scale = await measured(bytes);
    expect(scale).toMatchObject({ tokensPerWord: 4, hasLetters: true, headTokens: 1 });
    expect(wordsFor(scale, 11)).toEqual({ words: 2, letters: 3 });
    expect(wordsFor(scale, 0)).toEqual({ words: 0, letters: 0 });
  });

  it('finds the tokens that a chat template adds before, after and between turns', async () => {
    const scale = await measured(
      byWord(() => 1, 4, 5, 7),
      undefined,
      true,
    );
    expect(scale).toMatchObject({ headTokens: 4, tailTokens: 5, turnTokens: 7 });
  });

  it('believes the count of whole requests more', async () => {
    const tokenize = byWord(() => 1, 1);
    expect(await measured(tokenize, usageOf(tokenize, 2))).toMatchObject({ tailTokens: 2, uncountedTokens: 2 });
    expect(await measured(tokenize, NO_USAGE)).toMatchObject({ tailTokens: 0, by: 'tokenize' });
  });

  it('works without token ids, and without a second turn', async () => {
    let asked = 0;
    const counts: Tokenizer = async (turns) => {
      asked++;
      return turns.length > 1 ? null : { count: wordsIn(turns).length + 6, ids: null };
    };
    expect(await measured(counts, undefined, true)).toMatchObject({ headTokens: 0, tailTokens: 6, turnTokens: 0 });
    expect(asked).toBeLessThan(20);
  });

  it('falls back when the tokenizer fails', async () => {
    let asked = 0;
    const tokenize = byWord(() => 1);
    const failing: Tokenizer = async (turns) => (asked++ < 2 ? tokenize(turns) : null);
    expect(await measured(failing, usageOf(tokenize))).toMatchObject({ by: 'usage', tokensPerWord: 1 });
  });
});

describe('measureScale with counts of whole requests', () => {
  const byUsage = (count: (words: number) => number | null, isChat = false) =>
    measured(NO_TOKENIZER, async (turns) => count(wordsIn(turns).length), isChat);

  it('finds ratio and what is added', async () => {
    expect(await byUsage((words) => words * 1.5 + 4)).toMatchObject({ tokensPerWord: 1.5, headTokens: 4, by: 'usage' });
    expect(await byUsage((words) => words + 9, true)).toMatchObject({ headTokens: 0, tailTokens: 9 });
  });

  it('believes an unusual ratio that is the same twice', async () => {
    expect(await byUsage((words) => words * 4 + 1)).toMatchObject({ tokensPerWord: 4, headTokens: 1 });
  });

  it('takes a word for a token where counts make no sense', async () => {
    expect(await byUsage((words) => words ** 2)).toMatchObject({ tokensPerWord: 1 });
    expect(await byUsage(() => 5)).toMatchObject({ tokensPerWord: 1, headTokens: 0 });
  });

  it('uses defaults without any counts', async () => {
    expect(await byUsage(() => null)).toMatchObject({ tokensPerWord: 1, by: 'assumed' });
    expect(await byUsage((words) => (words > 20 ? null : words))).toMatchObject({ by: 'assumed' });
  });
});
