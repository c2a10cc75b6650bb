import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalOrder } from '../../arrival-order.js';
import { type RequestTable, ROW_GROWS_CONTEXT } from '../../request-table.js';
import { anyTrace, madeTrace } from '../made-trace.fixture.js';
import { promptTable } from '../prompt-table.js';
import { prefixReuse } from './prefix-reuse.js';

/** The content of each full block of a prompt, as text: by the rules, one block at a time. */
function blockNames(table: RequestTable, row: number, size: number): string[] {
  const group = table.prefixGroup[row]!;
  const recorded = table.blocks?.blocksOf(row) ?? 0;
  return Array.from({ length: Math.floor(table.inputTokens[row]! / size) }, (_, i) => {
    const end = (i + 1) * size;
    if (recorded > 0) {
      const at = Math.ceil(end / table.blocks!.blockTokens) - 1;
      return at < recorded ? `recorded ${table.blocks!.block(row, at)}, ${end}` : `row ${row}, ${end}`;
    }
    if (end <= table.prefixTokens[group]!) return `group ${group}, ${end}`;
    if ((table.flags[row]! & ROW_GROWS_CONTEXT) !== 0) return `chat ${table.session[row]}, ${end}`;
    return `row ${row}, ${end}`;
  });
}

/** A cache as a list from the least to the most recent. */
function plainReuse(table: RequestTable, order: Int32Array, size: number, capacity: number): number[] {
  const cache = new Set<string>();
  return Array.from(order, (row) => {
    const names = blockNames(table, row, size);
    const missing = names.findIndex((name) => !cache.has(name));
    for (const name of names) {
      cache.delete(name);
      cache.add(name);
      if (cache.size > capacity) cache.delete(cache.values().next().value!);
    }
    return (missing < 0 ? names.length : missing) * size;
  });
}

describe('prefixReuse', () => {
  it('finds what a plain cache finds, endless or not, at any block size', () => {
    fc.assert(
      fc.property(
        anyTrace,
        fc.constantFrom(16, 100, 512, 1000),
        fc.integer({ min: 1, max: 40 }),
        (trace, size, capacity) => {
          const table = promptTable(trace);
          const order = arrivalOrder(table);
          const { cachedTokens, reusedTokens } = prefixReuse(table, order, size, capacity);
          expect([...reusedTokens]).toEqual(plainReuse(table, order, size, Number.POSITIVE_INFINITY));
          expect([...cachedTokens!]).toEqual(plainReuse(table, order, size, capacity));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('lists prefixes that together make up all reuse, the most useful first', () => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const table = promptTable(trace);
        const { cachedTokens, hotPrefixes, reusedTokens } = prefixReuse(table, arrivalOrder(table), 512, null);
        expect(cachedTokens).toBeNull();
        const total = reusedTokens.reduce((sum, tokens) => sum + tokens, 0);
        const listed = hotPrefixes.map((prefix) => prefix.reusedTokens);
        const sum = listed.reduce((all, tokens) => all + tokens, 0);
        if (hotPrefixes.length < 10) expect(sum).toBe(total);
        else expect(sum).toBeLessThanOrEqual(total);
        expect(listed).toEqual([...listed].sort((a, b) => b - a));
      }),
    );
  });

  it('ends a prefix where prompts diverge, and reports where it was first seen', () => {
    const table = madeTrace([
      { input: 1536, blocks: [9, 1, 2] },
      { input: 2048, blocks: [0, 1, 2, 3] },
      { input: 2048, blocks: [0, 1, 2, 4] },
      { input: 1024, blocks: [0, 1] },
      { input: 500, blocks: [0] },
    ]).table;
    const { hotPrefixes } = prefixReuse(table, arrivalOrder(table), 512, null);
    expect(hotPrefixes).toEqual([
      { tokens: 1024, uses: 3, reusedTokens: 2048, row: 1 },
      { tokens: 1536, uses: 2, reusedTokens: 512, row: 1 },
    ]);
  });

  it('keeps the ten best of many', () => {
    const rows = Array.from({ length: 2500 }, (_, i) => ({ input: 512, blocks: [i % 1200] }));
    const { table } = madeTrace([...rows, ...rows.slice(0, 40)]);
    const { hotPrefixes } = prefixReuse(table, arrivalOrder(table), 512, null);
    expect(hotPrefixes.map(({ row, uses }) => [row, uses])).toEqual(Array.from({ length: 10 }, (_, i) => [i, 4]));
  });
});
