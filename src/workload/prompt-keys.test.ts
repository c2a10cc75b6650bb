import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunError } from '../kernel/errors.js';
import { PromptBlocks } from './prompt-blocks.js';
import { PromptKeys } from './prompt-keys.js';
import { RequestTable, ROW_GROWS_CONTEXT } from './request-table.js';

interface Prompt {
  input: number;
  output?: number;
  group?: string;
  prefix?: number;
  chat?: string;
  context?: number;
}

function tableOf(prompts: Prompt[]): RequestTable {
  const table = new RequestTable();
  for (const prompt of prompts) {
    const row = table.append();
    table.inputTokens[row] = prompt.input;
    table.outputTokens[row] = prompt.output ?? 0;
    table.prefixGroup[row] = table.prefixGroups.index(prompt.group ?? '');
    table.prefixTokens[table.prefixGroup[row]!] = prompt.prefix ?? 0;
    if (prompt.chat === undefined) continue;
    table.session[row] = table.sessions.index(prompt.chat);
    table.contextTokens[table.session[row]!] = prompt.context!;
    table.flags[row] = ROW_GROWS_CONTEXT;
  }
  return table;
}

function keysOf(keys: PromptKeys, row: number, blocks: number): number[] {
  const out = new Int32Array(blocks);
  keys.fill(row, blocks, out);
  return [...out];
}

describe('PromptKeys', () => {
  it('shares the full blocks of a group and nothing after them', () => {
    const keys = new PromptKeys(
      tableOf([
        { input: 100, group: 'g', prefix: 40 },
        { input: 80, group: 'g', prefix: 40 },
        { input: 80, group: 'h', prefix: 40 },
        { input: 80 },
      ]),
      16,
    );
    const first = keysOf(keys, 0, 6);
    const second = keysOf(keys, 1, 5);
    expect(second.slice(0, 2)).toEqual(first.slice(0, 2));
    expect(new Set([...first, ...second, ...keysOf(keys, 2, 5), ...keysOf(keys, 3, 5)]).size).toBe(6 + 3 + 5 + 5);
    expect(first.every((key) => key >= 1 && key < keys.keyLimit)).toBe(true);
  });

  it('counts the leading blocks that others may share', () => {
    const keys = new PromptKeys(
      tableOf([{ input: 100, group: 'g', prefix: 40 }, { input: 100 }, { input: 100, chat: 'c', context: 100 }]),
      16,
    );
    expect(keys.shared(0, 6)).toBe(2);
    expect(keys.shared(0, 1)).toBe(1);
    expect(keys.shared(1, 6)).toBe(0);
    expect(keys.shared(2, 6)).toBe(6);
  });

  it('returns the same keys for any order and number of calls', () => {
    const keys = new PromptKeys(tableOf([{ input: 64 }, { input: 64 }]), 16);
    const first = keysOf(keys, 0, 2);
    keysOf(keys, 1, 4);
    expect(keysOf(keys, 0, 4).slice(0, 2)).toEqual(first);
  });

  it('includes rows that were appended later', () => {
    const table = tableOf([{ input: 64 }]);
    const keys = new PromptKeys(table, 16);
    const first = keysOf(keys, 0, 4);
    while (table.count < 3000) {
      const row = table.append();
      table.inputTokens[row] = 32;
    }
    const later = keysOf(keys, 2999, 2);
    expect(first).not.toContain(later[0]);
    expect(keysOf(keys, 2999, 2)).toEqual(later);
  });

  it('shares a growing session up to, but not including, the last token of a response', () => {
    // Turn 0: 30 in, 18 out, so its last output token fills block 2. Turn 1 repeats 47 of those tokens.
    const chat = { chat: 'c', context: 120 };
    const keys = new PromptKeys(
      tableOf([
        { input: 30, output: 18, ...chat },
        { input: 80, output: 10, ...chat },
      ]),
      16,
    );
    const [a, b, own] = keysOf(keys, 0, 3);
    const next = keysOf(keys, 1, 5);
    expect(next.slice(0, 2)).toEqual([a, b]);
    expect(next).not.toContain(own);
  });

  it('keeps many groups and sessions apart', () => {
    const prompts: Prompt[] = Array.from({ length: 400 }, (_, i) =>
      i % 2 === 0 ? { input: 32, group: `g${i}`, prefix: 32 } : { input: 32, chat: `c${i}`, context: 32 },
    );
    const keys = new PromptKeys(tableOf(prompts), 16);
    const all = prompts.flatMap((_, row) => keysOf(keys, row, 2));
    expect(new Set(all).size).toBe(800);
    expect(prompts.flatMap((_, row) => keysOf(keys, row, 2))).toEqual(all);
  });

  it('refuses blocks that a prompt does not have', () => {
    const keys = new PromptKeys(tableOf([{ input: 31 }, { input: 31, output: 1, chat: 'c', context: 40 }]), 16);
    expect(() => keys.fill(0, 2, new Int32Array(4))).toThrow(RangeError);
    expect(() => keys.fill(1, 2, new Int32Array(4))).not.toThrow();
  });

  it('ends with a clear error when there are too many blocks to number', () => {
    const keys = new PromptKeys(tableOf([{ input: 2 ** 31 - 2 }, { input: 16 }]), 1);
    keysOf(keys, 0, 1);
    expect(() => keysOf(keys, 1, 1)).toThrow(RunError);
  });

  it('agrees with real token ids: equal keys at a block mean equal tokens up to its end', () => {
    const request = fc.record({
      kind: fc.integer({ min: 0, max: 3 }),
      fresh: fc.integer({ min: 1, max: 40 }),
      output: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 2, maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 30 }),
        (requests, blockSize, prefix) => {
          let token = 0;
          const fresh = (count: number) => Array.from({ length: count }, () => token++);
          const prefixes = [[], fresh(prefix), fresh(prefix)];
          const chat = { past: prefixes[2]!, context: prefix };
          const prompts: Prompt[] = [];
          const tokens: number[][] = [];
          for (const { kind, fresh: count, output } of requests) {
            // Kinds 0 to 2 are independent, without or with a group; kind 3 is the next turn of one session.
            const input = [...(kind === 3 ? chat.past : prefixes[kind]!), ...fresh(count)];
            const whole = kind === 3 ? [...input, ...fresh(output)] : input;
            if (kind === 3) {
              chat.past = whole.slice(0, input.length + Math.max(0, output - 1));
              chat.context += count + output;
            }
            tokens.push(whole);
            prompts.push({
              input: input.length,
              output,
              ...(kind > 0 ? { group: `g${Math.min(kind, 2)}`, prefix } : {}),
              ...(kind === 3 ? { chat: 'c' } : {}),
            });
          }
          for (const prompt of prompts) if (prompt.chat !== undefined) prompt.context = chat.context;

          const keys = new PromptKeys(tableOf(prompts), blockSize);
          const filled = tokens.map((whole, row) => keysOf(keys, row, Math.floor(whole.length / blockSize)));
          const contents = new Map<number, string>();
          const numbers = new Map<string, number>();
          filled.forEach((row, i) => {
            row.forEach((key, block) => {
              const content = tokens[i]!.slice(0, (block + 1) * blockSize).join();
              expect(contents.get(key) ?? content).toBe(content);
              expect(numbers.get(content) ?? key).toBe(key);
              contents.set(key, content);
              numbers.set(content, key);
            });
          });
        },
      ),
    );
  });

  it.each([16, 64, 100, 512, 700, 1024])('covers recorded blocks of 512 tokens with blocks of %i', (size) => {
    const prompts = [
      { tokens: 2000, ids: [1, 2, 3, 4] },
      { tokens: 1800, ids: [1, 2, 7, 8] },
      { tokens: 1500, ids: [1, 2] },
      { tokens: 1536, ids: [5, 2, 3] },
    ];
    const table = tableOf(prompts.map(({ tokens }) => ({ input: tokens })));
    table.blocks = new PromptBlocks(512);
    for (const [row, { ids }] of prompts.entries()) {
      for (const id of ids) table.blocks.add(id);
      table.blocks.endRow(row);
    }
    const keys = new PromptKeys(table, size);
    const all = prompts.map(({ tokens }, row) => keysOf(keys, row, Math.floor(tokens / size)));
    // Rows 0, 1 and 2 share their first two recorded blocks, row 3 none: its block 2 follows another block.
    const common = Math.floor(1024 / size);
    expect(all[1]!.slice(0, common)).toEqual(all[0]!.slice(0, common));
    expect(all[2]!.slice(0, common)).toEqual(all[0]!.slice(0, common));
    const different = all.reduce((sum, row) => sum + row.length, 0) - 2 * common;
    expect(new Set(all.flat()).size).toBe(different);
    expect(all.map((row, i) => keys.shared(i, row.length))).toEqual([common, common, common, 0]);
  });
});
