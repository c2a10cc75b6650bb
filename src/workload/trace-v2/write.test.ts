import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalOrder } from '../arrival-order.js';
import { RequestTable, ROW_STREAMING, setSourceId } from '../request-table.js';
import { anyTrace, madeTrace, rowsOf } from '../tools/made-trace.fixture.js';
import type { Trace } from '../trace.js';
import { readTraceData } from './data/read-data.js';
import { readTraceHeader } from './header/read-header.js';
import { type TraceOutcomes, writeTrace, writeTraceData, writeTraceHeader } from './write.js';

const NEVER = new Float64Array(5000).fill(Number.NaN);
const NOTHING: TraceOutcomes = { ttftUs: NEVER, itlSumUs: NEVER, status: () => 'incomplete' };

function written(table: RequestTable, outcomes: TraceOutcomes = NOTHING): string {
  return [...writeTraceData(table, outcomes)].join('');
}

describe('writeTraceHeader', () => {
  it('writes the facts of a run', () => {
    expect(writeTraceHeader({ mode: 'generated', workloadSeed: 42 })).toBe(
      'trace_version: 3\ntime_unit: microseconds\nmode: generated\nwarm_up_requests: 0\nworkload_seed: 42\n',
    );
  });

  it('reads back', async () => {
    const goodputTargets = { 'a: "b"': { ttftUs: 1500, e2eUs: 2e6 }, standard: { itlUs: 12.5 } };
    const text = writeTraceHeader({ mode: 'replayed', workloadSpec: 'preset:chat', goodputTargets, maxInFlight: 64 });
    expect(await readTraceHeader(text, 't.yaml')).toMatchObject({ mode: 'replayed', goodputTargets, maxInFlight: 64 });
    expect(await readTraceHeader('trace_version: 3\nmax_in_flight: 0\n', 't.yaml')).not.toHaveProperty('maxInFlight');
  });
});

describe('writeTraceData', () => {
  function oneRequest(): RequestTable {
    const table = new RequestTable();
    const row = table.append();
    setSourceId(table, row, 7);
    table.client[row] = table.clients.index('distribution');
    table.inputTokens[row] = 62;
    table.outputTokens[row] = 10;
    table.arrivalUs[row] = 500_000;
    table.deadlineUs[row] = 300_500_000;
    return table;
  }

  it('writes when a request was due that the client held back', () => {
    const outcomes = { ttftUs: [100], itlSumUs: [50], status: () => 'ok' as const, clientWaitUs: [200_000] };
    expect([...writeTraceData(oneRequest(), outcomes)].join('')).toContain(',300000,500000,500100,500150,');
  });

  it('writes the times of the first and the last token', () => {
    const text = written(oneRequest(), { ttftUs: [28_022], itlSumUs: [109_912], status: () => 'ok' });
    expect(text.split('\n')[1]).toBe(
      '0,distribution,,,,0,,0,false,62,10,0,0,0,0,0,,300500000,0,500000,500000,528022,637934,0,ok,,',
    );
  });

  it('writes 0 for what did not happen', () => {
    const never = written(oneRequest(), { ttftUs: [Number.NaN], itlSumUs: [Number.NaN], status: () => 'timeout' });
    expect(never.split('\n')[1]).toMatch(/,500000,500000,0,0,0,timeout,,$/);
    const cut = written(oneRequest(), { ttftUs: [5], itlSumUs: [Number.NaN], status: () => 'incomplete' });
    expect(cut.split('\n')[1]).toMatch(/,500000,500000,500005,500005,0,incomplete,,$/);
  });

  it('has a column for targets only when one is set', () => {
    const table = oneRequest();
    expect(written(table)).not.toContain('slo_target_us');
    table.sloTargetUs[0] = 250;
    expect(written(table)).toContain('deadline_us,slo_target_us,server_input_tokens');
    expect(written(table)).toContain(',300500000,250,0,500000,');
  });

  it('numbers the requests in order of arrival', () => {
    const table = oneRequest();
    const earlier = table.append();
    table.inputTokens[earlier] = 9;
    table.arrivalUs[earlier] = 100;
    const rows = written(table).trim().split('\n').slice(1);
    expect(rows.map((line) => line.split(',')[0])).toEqual(['0', '1']);
    expect(rows[0]).toContain(',9,0,');
  });

  it('comes in chunks', () => {
    const table = new RequestTable();
    while (table.count < NEVER.length) table.append();
    expect([...writeTraceData(table, NOTHING)].length).toBeGreaterThan(3);
  });

  it('reads a request back that is past due on arrival', () => {
    const table = oneRequest();
    table.deadlineUs[0] = 400_000;
    expect(readTraceData(Buffer.from(written(table)), 't.csv', false).table.deadlineUs[0]).toBe(500_000);
  });

  const name = fc.oneof(
    fc.constantFrom(
      '',
      'a',
      'b',
      'plain-name',
      'with,comma',
      'with "quotes"',
      'two\nlines',
      'two\r\nlines',
      ' spaces ',
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  );
  const request = fc.record({
    client: name,
    tenant: name,
    sloClass: name,
    session: name,
    model: name,
    group: fc.constantFrom('', 'g', 'h,"'),
    round: fc.nat({ max: 100 }),
    fresh: fc.nat({ max: 1_000_000 }),
    output: fc.integer({ min: 1, max: 1_000_000 }),
    arrival: fc.nat({ max: Number.MAX_SAFE_INTEGER - 2e9 }),
    patience: fc.nat({ max: 2e9 }),
    target: fc.constantFrom(0, 0, 1, 250_000),
    streaming: fc.boolean(),
  });

  it('reads back as the same requests', () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 20 }), (requests) => {
        const table = new RequestTable();
        for (const given of requests) {
          const row = table.append();
          const group = table.prefixGroups.index(given.group);
          const prefix = given.group.length * 100;
          table.prefixTokens[group] = prefix;
          table.client[row] = table.clients.index(given.client);
          table.tenant[row] = table.tenants.index(given.tenant);
          table.sloClass[row] = table.sloClasses.index(given.sloClass);
          table.session[row] = table.sessions.index(given.session);
          table.model[row] = table.models.index(given.model);
          table.prefixGroup[row] = group;
          table.round[row] = given.round;
          table.inputTokens[row] = prefix + given.fresh;
          table.outputTokens[row] = given.output;
          table.arrivalUs[row] = given.arrival;
          table.deadlineUs[row] = given.patience === 0 ? 0 : given.arrival + given.patience;
          table.sloTargetUs[row] = given.target;
          table.flags[row] = given.streaming ? ROW_STREAMING : 0;
        }
        const back = readTraceData(Buffer.from(written(table)), 't.csv', false);
        expect(back.unsorted).toBe(false);
        expect(back.table.count).toBe(table.count);
        arrivalOrder(table).forEach((row, id) => {
          expect(described(back.table, id)).toEqual(described(table, row));
        });
      }),
    );
  });
});

describe('writeTrace', () => {
  async function reread(trace: Trace): Promise<Trace> {
    const { data, header } = writeTrace(trace);
    const read = await readTraceHeader(header, 't.yaml');
    const bytes = Buffer.from([...data].join(''));
    const rows = readTraceData(bytes, 't.csv', read.mode === 'real', read.blockTokens);
    return { format: 'trace-v2', header: read, ...rows };
  }

  it('reads back as the same requests under the same ids, in order of time', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async (trace) => {
        const back = await reread(trace);
        const before = rowsOf(trace);
        const inOrder = Array.from(arrivalOrder(trace.table), (row) => before[row]!);
        const numbered = (rows: typeof before) => {
          const numbers = new Map<number, number>();
          const number = (block: number) => numbers.get(block) ?? numbers.set(block, numbers.size).size - 1;
          return rows.map((row) => ({ ...row, blocks: row.blocks.map(number) }));
        };
        expect(numbered(rowsOf(back))).toEqual(numbered(inOrder));
        expect(back.unsorted).toBe(false);
        const { mode, sessionContextGrowth } = trace.header;
        expect(back.header).toMatchObject({ mode, sessionContextGrowth });
      }),
    );
  });

  it('keeps the header', async () => {
    const goodputTargets = { critical: { ttftUs: 60_000 } };
    const trace = madeTrace([{ input: 40, blocks: [4, 5] }], { mode: '', workloadSeed: 7, goodputTargets }, 32);
    const { header } = writeTrace(trace);
    expect(header).toBe(
      'trace_version: 3\ntime_unit: microseconds\nwarm_up_requests: 0\nworkload_seed: 7\nblock_tokens: 32\n' +
        'goodput_slo_targets:\n  "critical": { ttft_ms: 60 }\n',
    );
    expect((await reread(trace)).header).toMatchObject({ mode: '', workloadSeed: 7, goodputTargets, blockTokens: 32 });
    expect((await reread(trace)).table.blocks!.blockTokens).toBe(32);
  });

  it('writes deadlines of observed traces as patience', () => {
    const trace = madeTrace([{ at: 1e15, deadline: 1e15 + 250 }], { mode: 'real' });
    expect([...writeTrace(trace).data].join('')).toContain(',250,0,1000000000000000,');
  });

  it('quotes a growth that is not a plain word', () => {
    expect(writeTrace(madeTrace([{}], { sessionContextGrowth: 'a: b' })).header).toContain(
      'session_context_growth: "a: b"',
    );
    expect(writeTrace(madeTrace([{}], { sessionContextGrowth: 'accumulate' })).header).toContain(
      'session_context_growth: accumulate',
    );
  });

  it('writes blocks and kinds of what was simulated, too', () => {
    const { table } = madeTrace([{ input: 700, blocks: [3, 4], image: 5, reasonRatio: 0.5 }]);
    const [names, row] = written(table).split('\n');
    expect(names).toMatch(/,finish_reason,block_hashes$/);
    expect(row).toBe('0,,,,,0,,0,false,700,10,0,5,0,0,0.5,,0,0,0,0,0,0,0,incomplete,,,0-1');
  });
});

function described(table: RequestTable, row: number): Record<string, unknown> {
  return {
    client: table.clients.name(table.client[row]!),
    tenant: table.tenants.name(table.tenant[row]!),
    sloClass: table.sloClasses.name(table.sloClass[row]!),
    session: table.sessions.name(table.session[row]!),
    model: table.models.name(table.model[row]!),
    group: table.prefixGroups.name(table.prefixGroup[row]!),
    prefix: table.prefixTokens[table.prefixGroup[row]!],
    round: table.round[row],
    input: table.inputTokens[row],
    output: table.outputTokens[row],
    arrival: table.arrivalUs[row],
    deadline: table.deadlineUs[row],
    target: table.sloTargetUs[row],
    flags: table.flags[row],
  };
}
