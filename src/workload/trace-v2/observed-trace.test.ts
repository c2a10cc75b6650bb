import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InputError } from '../../kernel/errors.js';
import { SENT_COLUMNS, type SentColumn, type SentFacts } from '../observed.js';
import { ROW_GROWS_CONTEXT } from '../request-table.js';
import { closedLoopWorkload } from '../sessions/trace-session-driver.js';
import { type MadeRow, madeTrace, rowsOf } from '../tools/made-trace.fixture.js';
import { promptTable } from '../tools/prompt-table.js';
import { selectRows } from '../tools/select-rows.js';
import type { Trace, TraceHeader } from '../trace.js';
import { csv } from './data/csv-text.fixture.js';
import { readTraceV2 } from './read-trace.js';
import { readTracePart } from './trace-part.js';
import { type TraceFacts, writeTrace } from './write.js';

const EPOCH = 1_700_000_000_000_000;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-observed-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const paths = () => [join(folder, 't.yaml'), join(folder, 't.csv')] as const;

/** An observed trace: the first request completes, the second times out, the third is cut off. */
function sentTrace(rows: readonly Partial<MadeRow>[], header: Partial<TraceHeader> = {}): Trace {
  const trace = madeTrace(rows, { mode: 'real', ...header });
  const column = (value: (row: number) => number) => Float64Array.from(rows, (_, row) => value(row));
  const texts = (value: (row: number) => string) => rows.map((_, row) => value(row));
  const numbers = Object.keys(SENT_COLUMNS).map((name, i) => [name, column((row) => 10 * i + row)]);
  const problems = ['', 'hang', 'cut'];
  return {
    ...trace,
    observed: {
      dispatchUs: column(() => 0),
      ttftUs: column((row) => (row % 3 === 1 ? Number.NaN : 500)),
      e2eUs: column((row) => (row % 3 === 1 ? Number.NaN : 2500)),
      cachedTokens: Int32Array.from(rows, (_, row) => row - 1),
      outcome: Uint8Array.from(rows, (_, row) => row % 3),
      sent: {
        ...(Object.fromEntries(numbers) as Record<SentColumn, Float64Array>),
        serverInputTokens: column((row) => (row === 0 ? -1 : trace.table.inputTokens[row]!)),
        problem: texts((row) => problems[row % 3]!),
        message: texts((row) => (row % 3 === 0 ? '' : 'said: "no",\nor so')),
        finishReason: texts((row) => (row % 3 === 0 ? 'length' : '')),
        xRequestId: texts((row) => `run-request_${row}`),
      } satisfies SentFacts,
    },
  };
}

function write(trace: Trace, facts: Partial<TraceFacts> = {}): string {
  const { data, header } = writeTrace(trace, facts, EPOCH);
  const text = [...data].join('');
  writeFileSync(paths()[0], header);
  writeFileSync(paths()[1], text);
  return text;
}

describe('an observed trace', () => {
  const THREE = [{ at: 1000 }, { at: 2100, wanted: 2000 }, { at: 3000, tenant: 't' }];

  it('is written with dates, a line for each', () => {
    const [names, , second] = write(sentTrace(THREE)).split('\n');
    expect(names).toMatch(
      /,finish_reason,x_request_id,server_cached_tokens,server_output_tokens,planned_input_tokens,planned_output_tokens,lateness_us,cap_wait_us,connect_us,error_class$/,
    );
    expect(second).toBe(
      `1,,,,,0,,0,false,100,10,0,0,0,0,0,,0,100,2000,${EPOCH + 2100},0,0,41,timeout,"said: ""no"", or so",,run-request_1,0,11,21,31,51,61,71,hang`,
    );
  });

  it('is read back with times from zero on', async () => {
    const trace = sentTrace(THREE);
    const text = write(trace);
    const back = await readTraceV2(...paths());
    expect(rowsOf(back)).toEqual(rowsOf(trace));
    const { message, priority, xRequestId, ...sent } = trace.observed!.sent!;
    expect(back.observed).toEqual({
      ...trace.observed,
      sent: { ...sent, message: ['', '', ''], xRequestId: ['', '', ''], priority: new Float64Array(3) },
    });
    expect(text).toContain(',ok,,length,');
    expect(text).toContain(',error,"said');
    expect(back.notes).toEqual([
      '2 of 3 requests have no complete response and are replayed as planned; --trace-answered leaves them out',
    ]);
    expect([message.length, priority.length, xRequestId.length]).toEqual([3, 3, 3]);
  });

  it('has priorities where there are classes', () => {
    const [names, first] = write(sentTrace([{ sloClass: 'batch' }])).split('\n');
    expect(names).toContain('slo_class,vllm_priority,session_id');
    expect(first!.startsWith('0,,,batch,80,,0,')).toBe(true);
  });

  it('keeps the measurements when rows are selected', () => {
    const { observed } = selectRows(sentTrace(THREE), Int32Array.of(2, 0));
    expect([...observed!.sent!.latenessUs]).toEqual([52, 50]);
    expect(observed!.sent!.problem).toEqual(['cut', '']);
    expect([...observed!.cachedTokens]).toEqual([1, -1]);
  });

  it('keeps its header', async () => {
    write(sentTrace(THREE), {
      ...{ createdAt: '2026-01-01T00:00:00.000Z', warmUpRequests: 3, rttMs: 1.5 },
      server: { type: 'vllm', model: 'acme/x', blockSize: 16, gpuMemoryUtilization: 0.9 },
      observedKvMetrics: { samples: 3, preemptions: 0 },
      ...{ partial: 'it was broken off', late: 'by 30 ms' },
    });
    const { header, notes } = await readTraceV2(...paths());
    expect(header).toMatchObject({
      ...{ warmUpRequests: 3, rttMs: 1.5, partial: 'it was broken off', late: 'by 30 ms' },
      server: { type: 'vllm', model: 'acme/x', blockSize: 16, gpuMemoryUtilization: 0.9 },
    });
    expect(notes!.slice(0, 2)).toEqual([
      'the trace is partial: it was broken off',
      'requests were sent late: by 30 ms',
    ]);
  });

  it('is read in part', async () => {
    write(sentTrace(THREE.map((row, i) => ({ ...row, model: i < 2 ? 'a' : 'b' }))), { partial: 'so far' });
    const answered = await readTracePart(...paths(), { answered: true });
    expect(rowsOf(answered).map(({ id }) => id)).toEqual([0]);
    expect(answered.notes).toEqual(['the trace is partial: so far']);
    expect(rowsOf(await readTracePart(...paths(), { model: 'b' })).map(({ id }) => id)).toEqual([2]);
    await expect(readTracePart(...paths(), { model: 'b', answered: true })).rejects.toMatchObject({
      code: 'TRACE_PART_EMPTY',
      problem: 'no request has a complete response',
    });
    await expect(readTracePart(...paths(), { model: 'c' })).rejects.toThrow("'c'");
  });
});

describe('other traces', () => {
  const file = (header: string, data: string) => {
    writeFileSync(paths()[0], header);
    writeFileSync(paths()[1], data);
    return paths();
  };
  const ROW = { send_time_us: '1000', first_chunk_time_us: '1500', last_chunk_time_us: '3000', status: 'incomplete' };

  it('have outcomes if they are observed, or on request', async () => {
    const { observed } = await readTraceV2(...file('mode: real\n', csv([ROW])));
    expect(observed).toMatchObject({ ttftUs: Float64Array.of(500), e2eUs: Float64Array.of(2000) });
    expect(observed).toMatchObject({ cachedTokens: Int32Array.of(-1), outcome: Uint8Array.of(2) });
    expect(observed).not.toHaveProperty('sent');
    const generated = file('mode: generated\n', csv([{ ...ROW, status: 'ok' }]));
    expect(await readTraceV2(...generated)).not.toHaveProperty('observed');
    expect((await readTraceV2(...generated, { seen: true })).observed!.outcome).toEqual(Uint8Array.of(0));
    await expect(readTracePart(...generated, { answered: true })).rejects.toMatchObject({ code: 'TRACE_PART_UNKNOWN' });
  });

  it('have none where no row has an outcome', async () => {
    expect(await readTraceV2(...file('mode: real\n', csv([{ ...ROW, status: '' }])))).not.toHaveProperty('observed');
  });

  it('may be longer than expected', async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({
      ...ROW,
      request_id: String(i),
      first_chunk_time_us: String(1000 + i),
    }));
    const { observed } = await readTraceV2(...file('mode: real\n', csv(rows)));
    expect([observed!.ttftUs[0], observed!.ttftUs[4999]]).toEqual([0, 4999]);
  });

  it('name the place of an invalid time', async () => {
    const text = csv([{ ...ROW, first_chunk_time_us: 'soon' }]);
    const error = await readTraceV2(...file('mode: real\n', text)).catch((caught: InputError) => caught);
    expect((error as InputError).place).toMatch(/t\.csv:2:\d+ \(first_chunk_time_us\)$/);
  });
});

describe('sessions whose lengths include their past', () => {
  const turns = [
    { session: 's', at: 1000, input: 100, output: 10 },
    { session: 's', round: 1, at: 2000, input: 130, output: 20 },
    { session: '', at: 2500, input: 50 },
  ];
  const included = async () => {
    write(sentTrace(turns), { sessionContextGrowth: 'included' });
    return readTraceV2(...paths());
  };

  it('grow when they are replayed at fixed times', async () => {
    const { table } = await included();
    expect([...table.flags.subarray(0, 3)]).toEqual([ROW_GROWS_CONTEXT, ROW_GROWS_CONTEXT, 0]);
    expect(table.contextTokens).toEqual([0, 150]);
    expect(promptTable(await included()).inputTokens.subarray(0, 2)).toEqual(Int32Array.of(100, 130));
  });

  it('grow in a closed loop, each turn as long as it was', async () => {
    const { sessions, table } = closedLoopWorkload(await included(), null);
    expect([table.count, table.contextTokens[1]]).toEqual([2, 150]);
    const next = sessions!.left(table, 0, true, 5000, Number.POSITIVE_INFINITY);
    expect([table.inputTokens[next], table.outputTokens[next]]).toEqual([130, 20]);
    expect(table.flags[next]! & ROW_GROWS_CONTEXT).toBe(ROW_GROWS_CONTEXT);
  });
});
