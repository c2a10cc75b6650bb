import { describe, expect, it } from 'vitest';
import { madeTrace } from '../tools/made-trace.fixture.js';
import { resampleTrace, sessionArrivals } from './resample-trace.js';

const SECOND = 1_000_000;

/** Sessions of three turns, ten seconds apart, that share the first block with all others. */
const chats = () =>
  madeTrace(
    Array.from({ length: 60 }, (_, i) => {
      const session = Math.floor(i / 3);
      const turn = i % 3;
      return {
        at: session * SECOND + turn * 10 * SECOND,
        session: `s${session}`,
        round: turn,
        input: 512 * (turn + 2),
        output: 10 + turn,
        blocks: [0, ...Array.from({ length: turn + 1 }, (_, block) => 100 * (session + 1) + block)],
      };
    }).sort((a, b) => a.at - b.at),
  );

describe('resampleTrace', () => {
  it('has as many requests as wanted, at the wanted rate', () => {
    const trace = chats();
    const { requestsPerS } = sessionArrivals(trace);
    const { table } = resampleTrace(trace, 3000, 2, 1);
    expect(table.count).toBeGreaterThan(2600);
    expect(table.count).toBeLessThan(3400);
    const spanS = (table.arrivalUs[table.count - 1]! - table.arrivalUs[0]!) / SECOND;
    expect(table.count / spanS / (2 * requestsPerS)).toBeCloseTo(1, 0);
  });

  it('keeps sessions whole: their pauses, lengths and order', () => {
    const { table } = resampleTrace(chats(), 600, 1, 1);
    const last = new Map<number, number>();
    for (let row = 0; row < table.count; row++) {
      const before = last.get(table.session[row]!);
      if (before !== undefined) {
        expect(table.arrivalUs[row]! - table.arrivalUs[before]!).toBe(10 * SECOND);
        expect(table.round[row]! - table.round[before]!).toBe(1);
      }
      expect(table.inputTokens[row]).toBe(512 * (table.round[row]! + 2));
      last.set(table.session[row]!, row);
    }
    expect(last.size).toBeGreaterThan(150);
  });

  it('shares between copies what sessions share in the trace, and nothing else', () => {
    const { table } = resampleTrace(chats(), 600, 1, 1);
    const owners = new Map<number, Set<number>>();
    for (let row = 0; row < table.count; row++) {
      for (let b = 0; b < table.blocks!.blocksOf(row); b++) {
        const block = table.blocks!.block(row, b);
        const sessions = owners.get(block) ?? new Set();
        owners.set(block, sessions.add(table.session[row]!));
      }
    }
    const shared = [...owners.values()].filter((sessions) => sessions.size > 1);
    expect(shared).toHaveLength(1);
  });

  it('is full of load from its start to its end', () => {
    const { table } = resampleTrace(chats(), 6000, 1, 3);
    const end = table.arrivalUs[table.count - 1]!;
    const counts = [0, 0, 0, 0];
    for (let row = 0; row < table.count; row++) counts[Math.min(3, Math.floor((4 * table.arrivalUs[row]!) / end))]!++;
    for (const count of counts) expect(Math.abs(count / (table.count / 4) - 1)).toBeLessThan(0.1);
  });

  it('depends on its seed and on nothing else', () => {
    const arrivals = (seed: number) => [...resampleTrace(chats(), 300, 1, seed).table.arrivalUs.subarray(0, 200)];
    expect(arrivals(1)).toEqual(arrivals(1));
    expect(arrivals(1)).not.toEqual(arrivals(2));
  });

  it('refuses a trace without a rate', () => {
    expect(() => sessionArrivals(madeTrace([{ at: 5 }]))).toThrow('one request has no rate');
    expect(() => sessionArrivals(madeTrace([{ at: 5 }, { at: 5 }]))).toThrow('all requests arrive at the same time');
  });
});
