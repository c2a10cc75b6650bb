import { describe, expect, it } from 'vitest';
import { csv, failure, type Row, read } from './csv-text.fixture.js';
import { BASE_COLUMNS } from './layout.js';

describe('readTraceData on bad input', () => {
  const one = (row: Row) => csv([{}, row]);
  /** The place of a column of the third line; for lines without quotes. */
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
    expect(error.hint).not.toBe('');
  });

  it.each<[string, string, string, string]>([
    [
      'an id used twice',
      csv([{}, {}, { request_id: '0' }]),
      't.csv:4:1 (request_id)',
      'request_id 0 was used before, at t.csv:2:1',
    ],
    ['a quote that never ends', one({ tenant_id: '"abc' }), 't.csv:3:4 (tenant_id)', 'never ends'],
    ['text after a quote', one({ tenant_id: '"abc"d' }), 't.csv:3:9 (tenant_id)', 'after the closing quote'],
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
    expect(error.hint).not.toBe('');
  });

  it('does not compare deadlines with the arrival where they count from it', () => {
    expect(() => read(one({ deadline_us: '999' }), true)).not.toThrow();
  });

  it('refuses more SLO classes than it can number', () => {
    const rows = Array.from({ length: 65_537 }, (_, i) => ({ slo_class: `c${i}` }));
    expect(failure(csv(rows)).problem).toBe('more than 65535 different values');
  });
});
