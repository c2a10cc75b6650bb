import { describe, expect, it } from 'vitest';
import type { Trace } from '../trace.js';
import { synthAgenticCoder } from './agentic-coder.js';
import { agenticStatistics } from './agentic-statistics.js';
import { PUBLISHED } from './published.js';

/** Rows of a session in order. */
function rowsBySession({ table }: Trace): number[][] {
  const sessions: number[][] = [];
  for (let row = 0; row < table.count; row++) {
    sessions[table.session[row]!] ??= [];
    sessions[table.session[row]!]!.push(row);
  }
  return sessions.filter((rows) => rows !== undefined);
}

function commonBlocks({ table }: Trace, a: number, b: number): number {
  const blocks = table.blocks!;
  let common = 0;
  while (
    common < Math.min(blocks.blocksOf(a), blocks.blocksOf(b)) &&
    blocks.block(a, common) === blocks.block(b, common)
  ) {
    common++;
  }
  return common;
}

describe.each([42, 1, 20_260])('the published statistics with seed %d', (seed) => {
  const statistics = agenticStatistics(synthAgenticCoder({ seed }));

  // Counts, the duration and quantiles hold exactly; means up to the rounding of tokens.
  it.each(['requests', 'sessions', 'durationS', 'turnsP90', 'turnsP99'] as const)('%s: exactly', (name) => {
    expect(statistics[name]).toBe(PUBLISHED[name]);
  });

  it.each(['meanInput', 'meanOutput'] as const)('%s: to one in ten thousand', (name) => {
    expect(Math.abs(statistics[name] / PUBLISHED[name] - 1)).toBeLessThan(1e-4);
  });

  it('prefillShare: follows from the two means, which give 98.7 % where 98 % is published', () => {
    expect(Math.floor(statistics.prefillShare * 100) / 100).toBe(PUBLISHED.prefillShare);
  });

  // System prompts are whole blocks: one block more or less moves the share by 0.4 of a percent.
  it('insideShare: to a quarter of a percent', () => {
    expect(Math.abs(statistics.insideShare - PUBLISHED.insideShare)).toBeLessThan(0.0025);
  });

  it('turnsMax: hundreds, less than in the full trace', () => {
    expect(statistics.turnsMax).toBeGreaterThan(300);
    expect(statistics.turnsMax).toBeLessThan(PUBLISHED.turnsMax);
  });
});

describe('synthAgenticCoder', () => {
  const trace = synthAgenticCoder();
  const { table } = trace;

  it('keeps the statistics at another size', () => {
    const statistics = agenticStatistics(synthAgenticCoder({ requests: 4000, sessions: 800, durationS: 6000 }));
    expect(statistics).toMatchObject({ requests: 4000, sessions: 800, durationS: 6000, turnsP90: 1, turnsP99: 18 });
    expect(statistics.meanInput / PUBLISHED.meanInput).toBeCloseTo(1, 3);
    expect(statistics.meanOutput / PUBLISHED.meanOutput).toBeCloseTo(1, 3);
    expect(statistics.insideShare).toBeCloseTo(PUBLISHED.insideShare, 2);
  });

  it('is in order of time, with turns numbered in each session', () => {
    expect([...table.arrivalUs.subarray(0, table.count)]).toEqual(
      [...table.arrivalUs.subarray(0, table.count)].sort((a, b) => a - b),
    );
    for (const rows of rowsBySession(trace)) expect(rows.map((row) => table.round[row])).toEqual([...rows.keys()]);
    expect(trace.unsorted).toBe(false);
  });

  it('has a block for every 512 tokens and for the remainder', () => {
    for (let row = 0; row < table.count; row++) {
      expect(table.blocks!.blocksOf(row)).toBe(Math.ceil(table.inputTokens[row]! / 512));
    }
  });

  it('lets context grow: a turn starts with all full blocks of the one before, or starts over', () => {
    let restarts = 0;
    let turns = 0;
    for (const rows of rowsBySession(trace)) {
      for (let i = 1; i < rows.length; i++) {
        const [before, row] = [rows[i - 1]!, rows[i]!];
        turns++;
        const full = Math.floor(table.inputTokens[before]! / 512);
        const common = commonBlocks(trace, before, row);
        if (common === full) {
          expect(table.inputTokens[row]!).toBeGreaterThan(table.inputTokens[before]! + table.outputTokens[before]!);
        } else {
          restarts++;
          expect(common).toBeGreaterThan(20);
          expect(table.inputTokens[row]!).toBeLessThan(table.inputTokens[before]!);
        }
      }
    }
    expect(turns).toBe(940);
    expect(restarts).toBeGreaterThan(5);
    expect(restarts).toBeLessThan(30);
  });

  it('shares blocks between sessions of an agent only at the start of prompts', () => {
    const firsts = rowsBySession(trace).map((rows) => rows[0]!);
    const common = firsts.slice(1).map((row) =>
      Math.max(
        ...firsts
          .slice(0, 200)
          .filter((other) => other !== row)
          .map((other) => commonBlocks(trace, row, other)),
      ),
    );
    expect(new Set(common).size).toBe(4);
    expect(Math.min(...common)).toBeGreaterThan(15);
    expect(Math.max(...common)).toBeLessThan(40);
  });

  it('pauses for seconds between turns', () => {
    const pauses = [...trace.thinkTimeUs!].filter((_, row) => table.round[row]! > 0).sort((a, b) => a - b);
    expect(pauses[pauses.length >> 1]! / 1e6).toBeGreaterThan(0.5);
    expect(pauses[pauses.length >> 1]! / 1e6).toBeLessThan(5);
    for (let row = 0; row < table.count; row++) if (table.round[row] === 0) expect(trace.thinkTimeUs![row]).toBe(0);
  });

  it('is the same for the same seed and another for another', () => {
    const lengths = (seed: number) => [...synthAgenticCoder({ seed }).table.inputTokens];
    expect(lengths(42)).toEqual([...table.inputTokens]);
    expect(lengths(43)).not.toEqual(lengths(42));
  });

  it('names the place of a field, for errors', () => {
    expect(trace.place(3, 'turn')).toBe('agentic-coder:4 (turn)');
    expect(trace.header.place('mode')).toBe('agentic-coder (mode)');
  });

  it('refuses sessions without time for their turns', () => {
    expect(() => synthAgenticCoder({ durationS: 200 })).toThrowError(
      expect.objectContaining({ code: 'SYNTH_INVALID', place: '--duration' }),
    );
  });
});
