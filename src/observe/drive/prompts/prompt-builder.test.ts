import { describe, expect, it } from 'vitest';
import { PromptBlocks } from '../../../workload/prompt-blocks.js';
import { RequestTable, ROW_GROWS_CONTEXT } from '../../../workload/request-table.js';
import { PromptBuilder } from './prompt-builder.js';
import { promptMember } from './prompt-turns.js';
import { WORDS } from './prompt-words.js';
import { plainScale, type TokenScale } from './token-scale.js';

interface Row {
  input: number;
  output?: number;
  group?: string;
  prefix?: number;
  blocks?: readonly number[];
  session?: string;
  round?: number;
}

function builder(rows: readonly Row[], scale: Partial<TokenScale> = {}): PromptBuilder {
  const table = new RequestTable(rows.length);
  if (rows.some(({ blocks }) => blocks !== undefined)) table.blocks = new PromptBlocks(8);
  for (const { blocks, group = '', input, output = 4, prefix = 0, round = 0, session = '' } of rows) {
    const row = table.append();
    table.inputTokens[row] = input;
    table.outputTokens[row] = output;
    table.prefixGroup[row] = table.prefixGroups.index(group);
    table.prefixTokens[table.prefixGroup[row]!] = prefix;
    table.session[row] = table.sessions.index(session);
    table.round[row] = round;
    if (session !== '') table.flags[row] = ROW_GROWS_CONTEXT;
    for (const id of blocks ?? []) table.blocks!.add(id);
    table.blocks?.endRow(row);
  }
  return new PromptBuilder(table, { ...plainScale(WORDS), ...scale }, 1);
}

/** The words of the whole prompt. */
function words(prompts: PromptBuilder, row: number): string[] {
  return prompts
    .turns(row)
    .flatMap(({ user, response }) => (user + (response ?? '')).split(' ').filter((word) => word !== ''));
}

/** How many words two prompts begin with in common. */
function common(a: readonly string[], b: readonly string[]): number {
  let n = 0;
  while (n < a.length && a[n] === b[n]) n++;
  return n;
}

describe('PromptBuilder', () => {
  it('builds prompts of the planned length, less what the server adds, and all different', () => {
    const prompts = builder([{ input: 30 }, { input: 12 }, { input: 30 }], { headTokens: 2, tailTokens: 3 });
    const texts = [0, 1, 2].map((row) => words(prompts, row));
    expect(texts.map(({ length }) => length)).toEqual([25, 7, 25]);
    expect(common(texts[0]!, texts[2]!)).toBe(0);
    expect(words(prompts, 0)).toEqual(texts[0]);
  });

  it('never builds an empty prompt', () => {
    const prompts = builder([{ input: 1 }, { input: 0 }], { headTokens: 4 });
    expect([0, 1].map((row) => words(prompts, row).length)).toEqual([1, 1]);
  });

  it('shares the prefix of a group, the head of the server included', () => {
    const of = (input: number, group: string, prefix: number) => ({ input, group, prefix });
    const prompts = builder([of(50, 'a', 20), of(40, 'a', 20), of(50, 'b', 20), of(15, 'a', 20)], { headTokens: 3 });
    const [a, alike, other, short] = [0, 1, 2, 3].map((row) => words(prompts, row));
    expect(common(a!, alike!)).toBe(17);
    expect(common(a!, other!)).toBe(0);
    expect([a!.length, short!.length, common(a!, short!)]).toEqual([47, 12, 12]);
  });

  it('shares recorded blocks as far as they are the same', () => {
    const prompts = builder(
      [{ input: 20, blocks: [5, 6, 7] }, { input: 24, blocks: [5, 6, 8] }, { input: 30, blocks: [5] }, { input: 20 }],
      { headTokens: 1 },
    );
    const [first, second, third, own] = [0, 1, 2, 3].map((row) => words(prompts, row));
    expect([first, second, third, own].map((text) => text!.length)).toEqual([19, 23, 29, 19]);
    expect(common(first!, second!)).toBe(15);
    expect(common(first!, third!)).toBe(7);
    expect(common(first!, own!)).toBe(0);
  });

  it('skips blocks that the head of the server covers', () => {
    expect(words(builder([{ input: 30, blocks: [1, 2, 3] }], { headTokens: 10 }), 0).length).toBe(20);
  });

  it('grows a session by its responses', () => {
    const turns = [
      { input: 20, session: 's', output: 5 },
      { input: 34, session: 's', round: 1 },
      { input: 60, session: 's', round: 2 },
    ];
    const prompts = builder(turns, { turnTokens: 2 });
    const first = words(prompts, 0);
    expect([prompts.continues(0), prompts.continues(1)]).toEqual([false, true]);
    prompts.chats.answered(1, 0, ' one two three four five', 21, 5);
    const second = words(prompts, 1);
    expect(second.slice(0, 25)).toEqual([...first, 'one', 'two', 'three', 'four', 'five']);
    // 34 planned, of which the server counted 26 before and puts 2 in between.
    expect(second.length).toBe(25 + 6);
    expect(promptMember('chat', prompts.turns(1))).toContain(
      '{"role":"assistant","content":" one two three four five"}',
    );
  });

  it('replaces a response that is not complete', () => {
    const prompts = builder([
      { input: 20, session: 's', output: 5 },
      { input: 40, session: 's', round: 1 },
    ]);
    const first = words(prompts, 0);
    const second = words(prompts, 1);
    expect(common(first, second)).toBe(20);
    expect(second.length).toBe(40);
    // The response completes later: the session has continued with the replacement.
    prompts.chats.answered(1, 0, ' late', 20, 1);
    expect(words(prompts, 1)).toEqual(second);
  });

  it('starts over where the context is not known', () => {
    const prompts = builder([{ input: 20, session: 's', round: 3 }]);
    expect(words(prompts, 0).length).toBe(20);
    prompts.chats.forget(1);
    expect(words(prompts, 0).length).toBe(20);
  });

  it('is longer or shorter after a correction', () => {
    const prompts = builder([{ input: 20 }]);
    prompts.correct(0, 3);
    expect(words(prompts, 0).length).toBe(23);
    prompts.correct(0, -2);
    expect(words(prompts, 0).length).toBe(18);
  });

  it('builds prompts outside of the plan', () => {
    const prompts = builder([{ input: 20 }]);
    const [one, other] = [0, 1].map((n) => prompts.unplanned(0, n)[0]!.user.split(' '));
    expect([one!.length, common(one!.slice(1), other!.slice(1))]).toEqual([21, 0]);
    expect(common(one!.slice(1), words(prompts, 0))).toBe(0);
  });

  it('fills up with letters', () => {
    const prompts = builder([{ input: 11 }], { tokensPerWord: 4, hasLetters: true });
    expect(prompts.turns(0)[0]!.user).toMatch(/^( [a-z]{3}) [a-z]{3}[a-z]{3}$/);
  });
});
