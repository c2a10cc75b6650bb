import { describe, expect, it } from 'vitest';
import type { InputError } from '../../kernel/errors.js';
import { type RequestTable, ROW_STREAMING } from '../request-table.js';
import { BASE_COLUMNS, fixedColumns } from './layout.js';
import { readTraceData } from './read-data.js';

const PLAIN: Record<string, string> = {
  ...Object.fromEntries(BASE_COLUMNS.map((name) => [name, '0'])),
  client_id: '',
  tenant_id: '',
  slo_class: '',
  session_id: '',
  prefix_group: '',
  streaming: 'false',
  input_tokens: '100',
  output_tokens: '10',
  model: '',
  arrival_time_us: '1000',
  status: 'ok',
  error_message: '',
  finish_reason: '',
};

type Row = Partial<Record<string, string>>;

/** A trace of these rows, each with the plain value where it says nothing. */
function csv(rows: Row[], columns: readonly string[] = BASE_COLUMNS): string {
  const lines = rows.map((row, i) =>
    columns.map((name) => row[name] ?? (name === 'request_id' ? `${i}` : (PLAIN[name] ?? ''))).join(','),
  );
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}

const read = (text: string, relativeDeadlines = false) => readTraceData(Buffer.from(text), 't.csv', relativeDeadlines);

function failure(text: string, relativeDeadlines = false): InputError {
  try {
    read(text, relativeDeadlines);
  } catch (error) {
    return error as InputError;
  }
  expect.unreachable('the trace was accepted');
}

/** All columns of a table, without the room behind the last row. */
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
    expect(table.sourceId[0]).toBe(17);
    expect(table.clients.name(table.client[0]!)).toBe('c');
    expect(table.tenants.name(table.tenant[0]!)).toBe('t');
    expect(table.sloClasses.name(table.sloClass[0]!)).toBe('batch');
    expect(table.sessions.name(table.session[0]!)).toBe('s');
    expect(table.models.name(table.model[0]!)).toBe('qwen/qwen3-14b');
    expect(table.round[0]).toBe(3);
    expect(table.flags[0]).toBe(ROW_STREAMING);
    expect(table.inputTokens[0]).toBe(529);
    expect(table.outputTokens[0]).toBe(242);
    expect(table.maxOutputTokens[0]).toBe(242);
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

  it('tells names apart that fall into the same place of its cache', () => {
    const names = Array.from({ length: 5000 }, (_, i) => `session-${i}`);
    const rows = [...names, ...names].map((session_id) => ({ session_id }));
    const { table } = read(csv(rows));
    expect([...table.session.subarray(0, 10_000)].map((s) => table.sessions.name(s))).toEqual([...names, ...names]);
  });

  it('takes the sending as the arrival, and the wish where nothing was sent', () => {
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

  it("prepends a group's prefix to all its prompts, as long as its first record with a length says", () => {
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
    const { table } = read(csv([{ send_time_us: '1700000000000000', deadline_us: '5000' }, {}]), true);
    expect([...table.deadlineUs.subarray(0, 2)]).toEqual([1_700_000_000_005_000, 0]);
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

  it('ignores what stands behind the known columns', () => {
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

  it('accepts records out of order and says so', () => {
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

describe('readTraceData on bad input', () => {
  const one = (row: Row) => csv([{}, row]);
  /** Where a column of the third line stands; for lines without quotes. */
  const on3 = (text: string, column: string) => {
    const before = text
      .split('\n')[2]!
      .split(',')
      .slice(0, BASE_COLUMNS.indexOf(column as 'model'));
    return `t.csv:3:${before.join(',').length + (before.length > 0 ? 2 : 1)} (${column})`;
  };

  it.each<[string, Row, string, string]>([
    ['a negative count', { input_tokens: '-5' }, 'input_tokens', '-5 is negative'],
    ['a fraction', { output_tokens: '1.5' }, 'output_tokens', "'1.5' is not a whole number"],
    ['a word for a count', { round_index: 'two' }, 'round_index', "'two' is not a whole number"],
    ['an empty count', { text_tokens: '' }, 'text_tokens', 'an empty field is not a whole number'],
    ['a count too large', { input_tokens: '2147483648' }, 'input_tokens', '2147483648 is too large'],
    ['a time too large', { arrival_time_us: '9007199254740993' }, 'arrival_time_us', 'too large'],
    ['a very long number', { request_id: '9'.repeat(60) }, 'request_id', 'too large'],
    ['an arrival before time begins', { arrival_time_us: '-1' }, 'arrival_time_us', '-1 is negative'],
    ['a sending too early', { send_time_us: '-9007199254740993' }, 'send_time_us', 'too small'],
    ['a ratio above 1', { reason_ratio: '1.01' }, 'reason_ratio', '1.01 is outside 0 to 1'],
    ['a ratio of 2', { reason_ratio: '2' }, 'reason_ratio', '2 is outside 0 to 1'],
    ['a negative ratio', { reason_ratio: '-0.5' }, 'reason_ratio', '-0.5 is outside 0 to 1'],
    ['a ratio that is no number', { reason_ratio: 'NaN' }, 'reason_ratio', "'NaN' is not a number"],
    ['a boolean that is none', { streaming: 'yes' }, 'streaming', "'yes' is not true or false"],
    ['an empty boolean', { streaming: '' }, 'streaming', 'an empty field is not true or false'],
    ['a negative deadline', { deadline_us: '-1' }, 'deadline_us', '-1 is negative'],
    ['a deadline before the arrival', { deadline_us: '999' }, 'deadline_us', 'before the arrival at 1000'],
    ['nothing to do', { input_tokens: '0', output_tokens: '0' }, 'input_tokens', 'neither input nor output'],
    ['characters of several bytes before the place', { tenant_id: 'äöü', input_tokens: 'x' }, 'input_tokens', "'x'"],
    [
      'a prompt too long with its prefix',
      { prefix_group: 'g', prefix_length: '2000000000', input_tokens: '2000000000' },
      'input_tokens',
      '4000000000 tokens',
    ],
  ])('names the place of %s', (_, row, column, problem) => {
    const error = failure(one(row));
    expect(error).toMatchObject({ name: 'InputError', code: 'TRACE_FIELD_INVALID', place: on3(one(row), column) });
    expect(error.problem).toContain(problem);
    expect(error.remedy).not.toBe('');
  });

  it.each<[string, string, string, string]>([
    [
      'an id used twice',
      csv([{}, {}, { request_id: '0' }]),
      't.csv:4:1 (request_id)',
      'request_id 0 was used before, at t.csv:2:1',
    ],
    ['a quote that never ends', one({ tenant_id: '"abc' }), 't.csv:3:4 (tenant_id)', 'never ends'],
    ['text behind a quote', one({ tenant_id: '"abc"d' }), 't.csv:3:9 (tenant_id)', 'after the closing quote'],
    ['too few columns', `${csv([{}])}1,c,,,,0\n2,c\n`, 't.csv:3:9 (prefix_group)', '6 columns, at least 27 are needed'],
    [
      'a row cut in the middle',
      csv([{}, {}]).slice(0, -40),
      't.csv:3:18 (output_tokens)',
      'ends in the middle of a row',
    ],
    ['a row cut inside a number', `${csv([{}])}1,c,,,,0,,12`, 't.csv:3:13 (streaming)', 'ends in the middle of a row'],
    [
      'a missing think time',
      csv([{}], [...BASE_COLUMNS, 'think_time_us']).replace(/,\n$/, '\n'),
      't.csv:2:57 (think_time_us)',
      '27 columns, at least 28 are needed',
    ],
    [
      'a think time that is none',
      csv([{ think_time_us: 'soon' }], [...BASE_COLUMNS, 'think_time_us']),
      't.csv:2:58 (think_time_us)',
      "'soon' is not a whole number",
    ],
    ['an empty file', '', 't.csv', 'no requests'],
    ['column names alone', csv([]), 't.csv', 'no requests'],
    ['no column names', csv([{}]).split('\n')[1]!, 't.csv:1:1 (column 1)', 'column names is missing'],
    ['too few column names', 'request_id,client_id\n', 't.csv:1:12 (column 2)', 'only 2 of 27 columns'],
    [
      'columns in another order',
      csv([{}]).replace('client_id,tenant_id', 'tenant_id,client_id'),
      't.csv:1:12 (column 2)',
      "column 'tenant_id' is out of place",
    ],
    [
      'an optional column in a wrong place',
      csv([{}], [...BASE_COLUMNS, 'slo_target_us']),
      't.csv:1:211 (column 19)',
      'out of place',
    ],
  ])('names the place of %s', (_, text, place, problem) => {
    const error = failure(text);
    expect(error.name).toBe('InputError');
    expect(error.place).toBe(place);
    expect(error.problem).toContain(problem);
    expect(error.remedy).not.toBe('');
  });

  it('does not compare deadlines with the arrival where they count from it', () => {
    expect(() => read(one({ deadline_us: '999' }), true)).not.toThrow();
  });

  it('refuses more SLO classes than it can number', () => {
    const rows = Array.from({ length: 65_537 }, (_, i) => ({ slo_class: `c${i}` }));
    expect(failure(csv(rows)).problem).toBe('more than 65535 different values');
  });
});
