import { describe, expect, it } from 'vitest';
import { range, type TestRequest, testTrace } from './block-trace.fixture.js';
import { sharedPrefixes } from './shared-prefixes.js';

const prefixesOf = (requests: readonly TestRequest[]) => sharedPrefixes(testTrace(requests).table);

describe('sharedPrefixes', () => {
  it('takes the groups that a trace names', () => {
    const trace = testTrace([{ group: 'agents' }, {}, { group: 'agents' }]);
    trace.table.prefixTokens[1] = 300;
    expect(sharedPrefixes(trace.table)).toMatchObject({
      names: ['', 'agents'],
      tokens: [0, 300],
      ofRow: Int32Array.of(1, 0, 1),
    });
  });

  it('finds none without blocks', () => {
    expect(prefixesOf([{}, {}])).toMatchObject({ names: [''], ofRow: Int32Array.of(0, 0) });
  });

  it('finds where prompts diverge, and the longest of several prefixes', () => {
    const short = range(0, 6).map((i) => ({ blocks: [1, 2, 100 + i, 200 + i] }));
    const long = range(0, 6).map((i) => ({ blocks: [1, 2, 3, 4, 5, 300 + i] }));
    const others = [{ blocks: [7, 8, 9] }, { blocks: [1] }, { blocks: [1, 2], input: 1024 }];
    const { names, tokens, ofRow } = prefixesOf([...short, ...long, ...others]);
    expect(names).toEqual(['', 'prefix-1', 'prefix-2']);
    expect(tokens).toEqual([0, 1024, 2560]);
    // The last one would have no tokens left.
    expect([...ofRow]).toEqual([...Array(6).fill(1), ...Array(6).fill(2), 0, 0, 0]);
  });

  it('does not take the turns of a session for diverging prompts', () => {
    const turns = range(1, 30).map((i) => ({ blocks: range(0, i) }));
    // Few words at a time: the last block is another one in each turn.
    const words = range(0, 20).map((i) => ({ blocks: [500, 501, 600 + i], input: 1030 + i }));
    expect(prefixesOf([...turns, ...words]).names).toEqual(['']);
  });

  it('counts a last block in full when another session has it', () => {
    const words = (session: (i: number) => string) =>
      range(0, 6).map((i) => ({ blocks: [500, 501, 600 + i], input: 1030 + i, session: session(i) }));
    expect(prefixesOf(words((i) => `s${i}`)).tokens).toEqual([0, 1024]);
    expect(prefixesOf(words(() => 's')).tokens).toEqual([0]);
  });

  it('keeps the 32 that most prompts start with', () => {
    const requests = range(0, 40).flatMap((prefix) =>
      range(0, prefix < 8 ? 4 : 5).map((i) => ({ blocks: [prefix, 1000 + prefix * 10 + i, 2000 + prefix * 10 + i] })),
    );
    const { names, ofRow } = prefixesOf(requests);
    expect(names).toHaveLength(33);
    expect([...ofRow.subarray(0, 32)]).toEqual(Array(32).fill(0));
  });
});
