import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalOrder } from '../arrival-order.js';
import { anonymise } from './anonymise.js';
import { anyTrace, madeTrace, rowsOf } from './made-trace.fixture.js';
import { traceStats } from './stats/trace-stats.js';

describe('anonymise', () => {
  it('replaces names and ids by numbers in order of time', () => {
    const trace = madeTrace(
      [
        { id: 17, at: 20, client: 'kim', tenant: 'acme', sloClass: 'critical', session: 'x9', model: 'm/secret' },
        { id: 12, at: 10, client: 'lee', group: 'handbook', prefix: 32, input: 600, blocks: [77, 78] },
        { id: 15, at: 30, client: 'kim', input: 600, blocks: [77, 99] },
      ],
      { workloadSeed: 7 },
    );
    const plain = anonymise(trace);
    expect(rowsOf(plain)).toMatchObject([
      { id: 0, at: 10, client: 'c0', group: 'g0', prefix: 32, blocks: [0, 1] },
      { id: 1, at: 20, client: 'c1', tenant: 't0', sloClass: 'critical', session: 's0', model: 'm0' },
      { id: 2, at: 30, client: 'c1', blocks: [0, 2] },
    ]);
    expect(plain.header.workloadSeed).toBeUndefined();
  });

  it('starts an observed trace at 0 instead of at a date', () => {
    const rows = [
      { at: 1.7e15, wanted: 1.7e15 - 5, deadline: 1.7e15 + 90 },
      { at: 1.7e15 + 40, wanted: 1.7e15 + 30 },
    ];
    expect(rowsOf(anonymise(madeTrace(rows, { mode: 'real' })))).toMatchObject([
      { at: 0, wanted: 0, deadline: 90 },
      { at: 40, wanted: 30, deadline: 0 },
    ]);
  });

  it('leaves lengths, sessions, shared blocks and distances in time as they were', () => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const plain = anonymise(trace);
        const facts = ({ stats }: ReturnType<typeof traceStats>) => {
          const { tenants, models, clients, prefix_reuse, ...rest } = stats;
          const { hot_prefixes, ...reuse } = prefix_reuse;
          const counts = [tenants, models, clients].map((names) => Object.values(names ?? {}));
          return { rest, reuse, counts, hot: hot_prefixes.map(({ tokens, uses }) => [tokens, uses]) };
        };
        expect(facts(traceStats(plain))).toEqual(facts(traceStats(trace)));
        const kept = ({ output, round, sloClass, think, target, streaming, image }: ReturnType<typeof rowsOf>[0]) => {
          return { output, round, sloClass, think, target, streaming, image };
        };
        const before = rowsOf(trace);
        expect(rowsOf(plain).map(kept)).toEqual(Array.from(arrivalOrder(trace.table), (row) => kept(before[row]!)));
      }),
    );
  });
});
