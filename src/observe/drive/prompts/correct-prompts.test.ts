import { describe, expect, it } from 'vitest';
import { fakePlan } from '../fake-server.fixture.js';
import { correctPrompts } from './correct-prompts.js';
import { PromptBuilder } from './prompt-builder.js';
import { WORDS } from './prompt-words.js';
import { plainScale } from './token-scale.js';
import type { Tokenizer } from './tokenizer.js';

const { table } = fakePlan(40).workload;
const wordsIn = (text: string) => text.split(' ').filter((word) => word !== '').length;

function prompts(scale = plainScale(WORDS)): PromptBuilder {
  return new PromptBuilder(table, scale, 1);
}

describe('correctPrompts', () => {
  it('looks at some prompts, and leaves it at that when they are right', async () => {
    let asked = 0;
    const tokenize: Tokenizer = async ([turn]) => {
      asked++;
      return { count: wordsIn(turn!.user) - 3, ids: null };
    };
    const made = prompts();
    expect(await correctPrompts(table, made, tokenize, { ...plainScale(WORDS), uncountedTokens: 3 })).toBe(16);
    expect(asked).toBe(16);
    expect(wordsIn(made.turns(0)[0]!.user)).toBe(20);
  });

  it('corrects all when some are wrong', async () => {
    const made = prompts();
    const tokenize: Tokenizer = async ([turn]) => ({ count: wordsIn(turn!.user) + 2, ids: null });
    expect(await correctPrompts(table, made, tokenize, plainScale(WORDS))).toBe(40);
    for (let row = 0; row < 40; row++) expect(wordsIn(made.turns(row)[0]!.user)).toBe(18);
  });

  it('keeps the best it found where no length is right', async () => {
    const scale = { ...plainScale(WORDS), tokensPerWord: 3.5 };
    const made = prompts(scale);
    // Lengths come in steps of 7: 21 is as near as it gets.
    const tokenize: Tokenizer = async ([turn]) => ({ count: 7 * Math.ceil(wordsIn(turn!.user) / 2), ids: null });
    await correctPrompts(table, made, tokenize, scale);
    const words = wordsIn(made.turns(5)[0]!.user);
    expect([5, 6]).toContain(words);
  });

  it('accepts a tokenizer that fails', async () => {
    expect(await correctPrompts(table, prompts(), async () => null, plainScale(WORDS))).toBe(16);
  });
});
