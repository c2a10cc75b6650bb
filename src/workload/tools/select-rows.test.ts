import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalOrder } from '../arrival-order.js';
import { anyTrace, madeTrace, rowsOf } from './made-trace.fixture.js';
import { selectRows } from './select-rows.js';

describe('selectRows', () => {
  it('keeps everything of the given rows, in the given order', () => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const order = arrivalOrder(trace.table);
        const before = rowsOf(trace);
        const { blocks, ...rest } = pick(rowsOf(selectRows(trace, order)));
        const { blocks: wanted, ...others } = pick(Array.from(order, (row) => before[row]!));
        expect(rest).toEqual(others);
        expect(blocks).toEqual(wanted);
        expect(rowsOf(trace)).toEqual(before);
      }),
    );
  });

  it('drops names, prefixes and blocks that are no longer used', () => {
    const trace = madeTrace([
      { client: 'a', session: 's', group: 'g', prefix: 64, input: 600, blocks: [5, 6] },
      { client: 'b', session: 't', group: 'h', prefix: 32, input: 600, blocks: [5, 7] },
    ]);
    trace.table.networks[2] = { rttUs: 9, bandwidthMbps: 0 };
    trace.table.contextTokens[2] = 77;
    const { table, place } = selectRows(trace, Int32Array.of(1));
    expect(table.clients.names()).toEqual(['', 'b']);
    expect(table.sessions.names()).toEqual(['', 't']);
    expect(table.prefixTokens).toEqual([0, 32]);
    expect(table.networks).toEqual([undefined, { rttUs: 9, bandwidthMbps: 0 }]);
    expect(table.contextTokens).toEqual([0, 77]);
    expect([table.blocks!.count, table.blocks!.uses[0]]).toEqual([2, 1]);
    expect(place(0, 'input_tokens')).toBe('made.csv:3 (input_tokens)');
  });

  it('keeps the measurements of the rows', () => {
    const observed = {
      dispatchUs: Float64Array.of(1, Number.NaN),
      ttftUs: Float64Array.of(2, Number.NaN),
      e2eUs: Float64Array.of(3, 4),
      cachedTokens: Int32Array.of(16, -1),
      outcome: Uint8Array.of(0, 2),
    };
    const trace = { ...madeTrace([{ at: 1 }, { at: 2 }]), observed };
    expect(selectRows(trace, Int32Array.of(1)).observed).toEqual({
      dispatchUs: Float64Array.of(Number.NaN),
      ttftUs: Float64Array.of(Number.NaN),
      e2eUs: Float64Array.of(4),
      cachedTokens: Int32Array.of(-1),
      outcome: Uint8Array.of(2),
    });
    expect(selectRows(madeTrace([{ at: 1 }]), Int32Array.of(0))).not.toHaveProperty('observed');
  });

  it('reports whether the rows are in order of time', () => {
    const trace = madeTrace([{ at: 1 }, { at: 2 }]);
    expect(selectRows(trace, Int32Array.of(0, 1)).unsorted).toBe(false);
    expect(selectRows(trace, Int32Array.of(1, 0)).unsorted).toBe(true);
  });
});

/** Blocks by which rows they are first seen in: their numbers may change. */
function pick(rows: ReturnType<typeof rowsOf>) {
  const numbers = new Map<number, number>();
  const blocks = rows.map((row) =>
    row.blocks.map((block) => {
      if (!numbers.has(block)) numbers.set(block, numbers.size);
      return numbers.get(block)!;
    }),
  );
  return { rows: rows.map((row) => ({ ...row, blocks: [] })), blocks };
}
