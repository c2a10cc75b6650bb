import { describe, expect, it } from 'vitest';
import { type RequestTable, ROW_STREAMING, sourceIdOf } from '../../request-table.js';
import { csv, read } from './csv-text.fixture.js';
import { BASE_COLUMNS, fixedColumns } from './layout.js';

/** All columns of a table, without the capacity after the last row. */
function columnsOf(table: RequestTable): Record<string, number[]> {
  const columns = Object.entries(table).filter(([, column]) => ArrayBuffer.isView(column));
  return Object.fromEntries(columns.map(([name, column]) => [name, [...column.subarray(0, table.count)]]));
}

describe('readTraceData', () => {
  it('reads every field of a request', () => {
    const { table, thinkTimeUs, unsorted } = read(
      csv([
        {
          request_id: '17',
          client_id: 'c',
          tenant_id: 't',
          slo_class: 'batch',
          session_id: 's',
          round_index: '3',
          streaming: 'true',
          input_tokens: '529',
          output_tokens: '242',
          reason_ratio: '0.25',
          model: 'qwen/qwen3-14b',
          deadline_us: '99999999999',
          arrival_time_us: '5000000000',
        },
      ]),
    );
    expect(table.count).toBe(1);
    expect(sourceIdOf(table, 0)).toBe(17);
    expect(table.clients.name(table.client[0]!)).toBe('c');
    expect(table.tenants.name(table.tenant[0]!)).toBe('t');
    expect(table.sloClasses.name(table.sloClass[0]!)).toBe('batch');
    expect(table.sessions.name(table.session[0]!)).toBe('s');
    expect(table.models.name(table.model[0]!)).toBe('qwen/qwen3-14b');
    expect(table.round[0]).toBe(3);
    expect(table.flags[0]).toBe(ROW_STREAMING);
    expect(table.inputTokens[0]).toBe(529);
    expect(table.outputTokens[0]).toBe(242);
    expect(table.deadlineUs[0]).toBe(99_999_999_999);
    expect(table.arrivalUs[0]).toBe(5_000_000_000);
    expect(thinkTimeUs).toBeNull();
    expect(unsorted).toBe(false);
  });

  it('numbers names in order of appearance, 0 for none', () => {
    const { table } = read(csv(['b', '', 'a', 'b', 'a'].map((tenant_id) => ({ tenant_id }))));
    expect([...table.tenant.subarray(0, 5)]).toEqual([1, 0, 2, 1, 2]);
    expect(table.tenants.names()).toEqual(['', 'b', 'a']);
  });

  it('distinguishes names with the same slot of its cache', () => {
    const names = Array.from({ length: 5000 }, (_, i) => `session-${i}`);
    const rows = [...names, ...names].map((session_id) => ({ session_id }));
    const { table } = read(csv(rows));
    expect([...table.session.subarray(0, 10_000)].map((s) => table.sessions.name(s))).toEqual([...names, ...names]);
  });

  it('takes the send time as the arrival, or the due time where there is none', () => {
    const { table, wantedUs } = read(
      csv([
        { arrival_time_us: '10', send_time_us: '25' },
        { arrival_time_us: '30', send_time_us: '0' },
        { arrival_time_us: '40', send_time_us: '-5' },
      ]),
    );
    expect([...table.arrivalUs.subarray(0, 3)]).toEqual([25, 30, 40]);
    expect([...wantedUs.subarray(0, 3)]).toEqual([10, 30, 40]);
  });

  it("puts a group's prefix in front of all its prompts, as long as in the first record that has a length", () => {
    const { table } = read(
      csv([
        { prefix_group: 'g', prefix_length: '0', input_tokens: '5' },
        { prefix_group: 'g', prefix_length: '40', input_tokens: '6' },
        { prefix_group: 'g', prefix_length: '99', input_tokens: '7' },
        { prefix_group: '', prefix_length: '50', input_tokens: '8' },
        { prefix_group: 'h', prefix_length: '0', input_tokens: '9' },
      ]),
    );
    expect([...table.inputTokens.subarray(0, 5)]).toEqual([45, 46, 47, 8, 9]);
    expect(table.prefixTokens).toEqual([0, 40, 0]);
  });

  it("takes the server's count of input tokens, except in a group", () => {
    const { table } = read(
      csv([
        { input_tokens: '100', server_input_tokens: '104' },
        { input_tokens: '100', server_input_tokens: '104', prefix_group: 'g', prefix_length: '10' },
        { input_tokens: '100', server_input_tokens: '0' },
      ]),
    );
    expect([...table.inputTokens.subarray(0, 3)]).toEqual([104, 110, 100]);
  });

  it('counts deadlines of observed traces from the arrival', () => {
    const { table } = read(csv([{ send_time_us: '7000', deadline_us: '5000' }, {}]), true);
    expect([...table.deadlineUs.subarray(0, 2)]).toEqual([12_000, 0]);
  });

  it('shifts dates of observed traces to the time axis of the due times', () => {
    const sent = (us: string, wanted: string) => ({ send_time_us: us, arrival_time_us: wanted, deadline_us: '5000' });
    const rows = [sent('1700000000001250', '1000'), sent('1700000000003000', '3000'), { send_time_us: '0' }];
    const { table } = read(csv(rows), true);
    expect([...table.arrivalUs.subarray(0, 3)]).toEqual([1250, 3000, 1000]);
    expect([...table.deadlineUs.subarray(0, 3)]).toEqual([6250, 8000, 0]);
    expect(read(csv(rows.map((row) => ({ ...row, deadline_us: '0' })))).table.arrivalUs[0]).toBe(1_700_000_000_001_250);
  });

  it('finds the optional columns', () => {
    const columns = [...fixedColumns(true, true), 'note', 'think_time_us', 'x_request_id'];
    const row = { vllm_priority: '4', slo_target_us: '250000', note: 'hm', think_time_us: '77', x_request_id: 'u-1' };
    const { table, thinkTimeUs } = read(csv([row, { ...row, think_time_us: '' }], columns));
    expect([...table.sloTargetUs.subarray(0, 2)]).toEqual([250_000, 250_000]);
    expect([...thinkTimeUs!.subarray(0, 2)]).toEqual([77, 0]);
    expect([...table.inputTokens.subarray(0, 2)]).toEqual([100, 100]);
    expect([...table.arrivalUs.subarray(0, 2)]).toEqual([1000, 1000]);
  });

  it('ignores columns after the known ones', () => {
    const text = csv([{}, {}]).replace(/ok,,$/gm, 'ok,,,extra,"more, even",');
    expect(read(text).table.count).toBe(2);
  });

  it('reads by position: base columns may be called anything', () => {
    const text = csv([{}]).replace('tenant_id', 'customer').replace('num_chunks', 'chunks');
    expect(read(text).table.inputTokens[0]).toBe(100);
  });

  it.each([
    ['Windows line ends', (text: string) => text.replaceAll('\n', '\r\n')],
    ['no line end at the end', (text: string) => text.trimEnd()],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['blank lines', (text: string) => `\n\r\n${text.replaceAll('\n', '\n\n')}\n`],
    [
      'quotes around everything',
      (text: string) => text.replace(/[^,\n]*/g, (field) => (field === '' ? '' : `"${field}"`)),
    ],
    ['plus signs and leading zeros', (text: string) => text.replaceAll(',100,', ',+0100,')],
  ])('reads a file with %s', (_, change) => {
    const columns = [...BASE_COLUMNS, 'think_time_us'];
    const rows = [
      { tenant_id: 'tä', think_time_us: '5' },
      { think_time_us: '0' },
      { tenant_id: 'b', think_time_us: '7' },
    ];
    const plain = read(csv(rows, columns));
    const changed = read(change(csv(rows, columns)));
    expect(columnsOf(changed.table)).toEqual(columnsOf(plain.table));
    expect(changed.table.tenants.names()).toEqual(['', 'tä', 'b']);
    expect(changed.thinkTimeUs!.subarray(0, 3)).toEqual(plain.thinkTimeUs!.subarray(0, 3));
  });

  it('reads quoted texts with commas, quotes and line ends', () => {
    const { table } = read(
      csv([
        { tenant_id: '"a, ""b"""', error_message: '"broke,\nthen ""stopped"""' },
        { tenant_id: '""', error_message: 'plain "quotes" inside' },
      ]),
    );
    expect(table.count).toBe(2);
    expect(table.tenants.names()).toEqual(['', 'a, "b"']);
    expect([...table.tenant.subarray(0, 2)]).toEqual([1, 0]);
  });

  it('accepts records out of order and reports it', () => {
    const { table, unsorted } = read(csv([{ arrival_time_us: '9' }, { arrival_time_us: '3' }]));
    expect(unsorted).toBe(true);
    expect([...table.arrivalUs.subarray(0, 2)]).toEqual([9, 3]);
  });

  it('accepts ids in any order, the largest count and the largest time', () => {
    const { table } = read(
      csv([
        { request_id: '9', output_tokens: '2147483647' },
        { request_id: '3', arrival_time_us: '9007199254740991' },
      ]),
    );
    expect(table.outputTokens[0]).toBe(2_147_483_647);
    expect(table.arrivalUs[1]).toBe(9_007_199_254_740_991);
  });

  it('accepts a request without input or without output', () => {
    expect(read(csv([{ input_tokens: '0' }, { output_tokens: '0' }])).table.count).toBe(2);
  });

  it('names the place of a row that is looked at later', () => {
    const { place } = read(csv([{}, { tenant_id: '"x,y"', session_id: 's' }]));
    expect(place(1, 'session_id')).toBe('t.csv:3:11 (session_id)');
  });
});
