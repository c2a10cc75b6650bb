import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InputError } from '../../kernel/errors.js';
import { readAs } from './read-any-trace.js';
import { TRACE_FORMATS } from './registry.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bad-trace-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function failure(format: string, content: string): Promise<InputError> {
  const path = join(folder, 't');
  writeFileSync(path, content);
  try {
    await readAs(TRACE_FORMATS.find(({ name }) => name === format)!, path, undefined);
  } catch (error) {
    return error as InputError;
  }
  expect.unreachable('the trace was accepted');
}

const MOONCAKE = { timestamp: 5, input_length: 600, output_length: 4, hash_ids: [1, 2] };
const BAILIAN = { chat_id: 2, parent_chat_id: -1, ...MOONCAKE, type: 'text', turn: 1 };
const TRAFFIC = { t_us: 900, input_tokens: 40, output_tokens: 4, block_size: 16, blocks: ['a'], status: 200 };
const SPAN = {
  startTimeUnixNano: '1751360400000000000',
  attributes: { 'gen_ai.usage.input_tokens': 5, 'gen_ai.usage.output_tokens': 6 },
};
/** Two lines: a valid one, and one with other fields; undefined fields are left out. */
const mooncake = (fields: object) => lines(MOONCAKE, { ...MOONCAKE, ...fields });
const traffic = (fields: object) => lines(TRAFFIC, { ...TRAFFIC, ...fields });
const bailian = (fields: object) => lines({ ...BAILIAN, chat_id: 1 }, { ...BAILIAN, ...fields });
const lines = (...records: object[]) => `${records.map((record) => JSON.stringify(record)).join('\n')}\n`;
const azure = (row: string) => `TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6,374,44\n${row}\n`;
const burst = (row: string) => `Timestamp,Model,Request tokens,Response tokens\n5,GPT-4,20,30\n${row}\n`;
const chats = (row: string) => `Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens\n${row}\n`;
const otel = (...spans: object[]) => JSON.stringify({ spans });
const attributes = (changed: object) => otel({ ...SPAN, attributes: { ...SPAN.attributes, ...changed } });

/** The mistake, the format, the file, the place of the mistake and the message. */
const BAD: readonly [string, string, string, string, string][] = [
  ['a negative time', 'mooncake', mooncake({ timestamp: -1 }), '2:2 (timestamp)', '-1 is negative'],
  ['a time too large', 'mooncake', mooncake({ timestamp: 1e15 }), '2:2 (timestamp)', 'too large'],
  ['a time as text', 'mooncake', mooncake({ timestamp: '5' }), '2:2 (timestamp)', "'5' is not a number"],
  ['not a time', 'mooncake', mooncake({ timestamp: undefined }), '2:1 (timestamp)', 'is missing'],
  ['NaN', 'mooncake', `${lines(MOONCAKE)}{"timestamp": NaN}\n`, '2:*', 'not JSON'],
  ['a negative length', 'mooncake', mooncake({ input_length: -6 }), '2:16 (input_length)', '-6 is negative'],
  [
    'part of a token',
    'mooncake',
    mooncake({ output_length: 1.5 }),
    '2:35 (output_length)',
    '1.5 is not a whole number',
  ],
  [
    'no tokens',
    'mooncake',
    mooncake({ input_length: 0, output_length: 0, hash_ids: [] }),
    '2:16 (input_length)',
    'neither',
  ],
  ['too many blocks', 'mooncake', mooncake({ hash_ids: [1, 2, 3] }), '2:53 (hash_ids)', '3 blocks of 512 tokens'],
  ['a block id as text', 'mooncake', mooncake({ hash_ids: ['a'] }), '2:53 (hash_ids)', '"a" is not a block id'],
  ['blocks that are no list', 'mooncake', mooncake({ hash_ids: 7 }), '2:53 (hash_ids)', 'is not a list'],
  ['a line cut off', 'mooncake', mooncake({}).slice(0, -20), '2:*', 'the line is not JSON'],
  ['a list instead of an object', 'mooncake', `${lines(MOONCAKE)}[1]\n`, '2:1', 'not a JSON object'],
  [
    'Bailian after Mooncake',
    'mooncake',
    lines(MOONCAKE, BAILIAN),
    '2:1',
    'this is bailian, but the file starts as mooncake',
  ],
  ['CSV after Mooncake', 'mooncake', lines(MOONCAKE) + azure(''), '2:1', 'this is azure'],

  ['not a time', 'traffic', traffic({ t_us: undefined }), '2:1 (t_us)', 'is missing'],
  ['a time as text', 'traffic', traffic({ t_us: 'now' }), '2:2 (t_us)', "'now' is not a number"],
  ['no status', 'traffic', traffic({ status: undefined }), '2:1 (status)', 'is missing'],
  ['no length', 'traffic', traffic({ input_tokens: null }), '2:13 (input_tokens)', 'null is not a whole number'],
  ['a negative length', 'traffic', traffic({ output_tokens: -1 }), '2:31 (output_tokens)', '-1 is negative'],
  ['part of a token', 'traffic', traffic({ cached_tokens: 0.5 }), '2:93 (cached_tokens)', '0.5 is not a whole number'],
  ['an end before the start', 'traffic', traffic({ end_us: 899 }), '2:93 (end_us)', '899 is before the arrival at 900'],
  [
    'a first token as text',
    'traffic',
    traffic({ first_token_us: 'x' }),
    '2:93 (first_token_us)',
    "'x' is not a number",
  ],
  ['blocks that are no list', 'traffic', traffic({ blocks: 'a' }), '2:65 (blocks)', 'is not a list'],
  ['a block id as number', 'traffic', traffic({ blocks: ['a', 7] }), '2:65 (blocks)', '7 is not a block id'],
  ['blocks of no size', 'traffic', traffic({ block_size: 0 }), '2:49 (block_size)', 'is 0'],
  ['blocks of unknown size', 'traffic', traffic({ block_size: undefined }), '2:1 (block_size)', 'is missing'],
  ['a session that is a list', 'traffic', traffic({ session: [] }), '2:93 (session)', 'neither a text nor a number'],
  ['a tenant that is an object', 'traffic', traffic({ tenant: {} }), '2:93 (tenant)', 'neither a text nor a number'],
  ['text that is not JSON', 'traffic', `${lines(TRAFFIC)}{"t_us": NaN}\n`, '2:*', 'the line is not JSON'],
  ['a list instead of an object', 'traffic', `${lines(TRAFFIC)}[1]\n`, '2:1', 'not a JSON object'],
  ['Mooncake after traffic', 'traffic', lines(TRAFFIC, MOONCAKE), '2:1', 'this is mooncake'],
  ['only wrong requests', 'traffic', lines({ ...TRAFFIC, status: 400 }), '', 'no requests'],

  ['no chat_id', 'bailian', bailian({ chat_id: undefined, hash_ids: undefined }), '2:1 (chat_id)', 'is missing'],
  ['an empty chat_id', 'bailian', bailian({ chat_id: '' }), '2:2 (chat_id)', 'is missing'],
  ['a chat_id that is none', 'bailian', bailian({ chat_id: [1] }), '2:2 (chat_id)', 'neither a text nor a number'],
  [
    'no parent and no session',
    'bailian',
    bailian({ parent_chat_id: undefined }),
    '2:1 (parent_chat_id)',
    'so is session_id',
  ],
  ['an id used twice', 'bailian', bailian({ chat_id: 1 }), '2:2 (chat_id)', 'chat_id 1 was used before'],
  ['a circle of parents', 'bailian', bailian({ parent_chat_id: 2 }), '2:14 (parent_chat_id)', 'lead back to it'],
  ['no turn', 'bailian', bailian({ turn: undefined }), '2:1 (turn)', 'is missing'],
  ['a turn below 0', 'bailian', bailian({ turn: -2 }), '2:116 (turn)', '-2 is negative'],
  ['a session that is none', 'bailian', bailian({ session_id: true }), '2:125 (session_id)', 'neither a text nor'],
  ['blocks of 16 tokens', 'bailian', bailian({ input_length: 40 }), '2:84 (hash_ids)', '2 blocks of 512 tokens'],
  ['Mooncake after Bailian', 'bailian', lines(BAILIAN, MOONCAKE), '2:1', 'this is mooncake'],

  ['a column missing', 'azure', 'TIMESTAMP,ContextTokens\n', '1:1', "column 'GeneratedTokens' is missing"],
  ['a column twice', 'azure', 'TIMESTAMP,ContextTokens,ContextTokens\n', '1:25 (ContextTokens)', 'appears twice'],
  ['an invalid date', 'azure', azure('2023-11-31 18:15:46.6,374,44'), '3:1 (TIMESTAMP)', 'is not a date and time'],
  ['an empty date', 'azure', azure(',374,44'), '3:1 (TIMESTAMP)', 'an empty field is not a date'],
  ['a number for a date', 'azure', azure('17,374,44'), '3:1 (TIMESTAMP)', "'17' is not a date and time"],
  ['a negative count', 'azure', azure('2023-11-16 18:15:46,-374,44'), '3:21 (ContextTokens)', '-374 is negative'],
  [
    'a word for a count',
    'azure',
    azure('2023-11-16 18:15:46,x,44'),
    '3:21 (ContextTokens)',
    "'x' is not a whole number",
  ],
  ['a hexadecimal count', 'azure', azure('2023-11-16 18:15:46,0x1,44'), '3:21 (ContextTokens)', 'not a whole number'],
  ['an empty count', 'azure', azure('2023-11-16 18:15:46,374,'), '3:25 (GeneratedTokens)', 'an empty field is not'],
  ['nothing to do', 'azure', azure('2023-11-16 18:15:46,0,0'), '3:21 (ContextTokens)', 'neither input nor output'],
  ['a row cut off', 'azure', azure('2023-11-16 18:15:46,374'), '3:21 (GeneratedTokens)', '2 columns, at least 3'],
  [
    'a row too long',
    'azure',
    azure('2023-11-16 18:15:46,374,44,9'),
    '3:28 (column 4)',
    'has 4 columns, the first line names 3',
  ],
  ['a quote that never ends', 'azure', azure('"2023-11-16,374,44'), '3:1', 'not in pairs'],
  [
    'the column names again',
    'azure',
    azure('TIMESTAMP,ContextTokens,GeneratedTokens'),
    '3:1',
    'column names come again',
  ],
  ['BurstGPT after Azure', 'azure', azure('Timestamp,Model,Request tokens'), '3:1', 'this is burstgpt'],
  ['JSON after Azure', 'azure', azure(JSON.stringify(MOONCAKE)), '3:1', 'this is mooncake'],

  ['a column missing', 'burstgpt', 'Timestamp,Request tokens,Response tokens\n', '1:1', "column 'Model' is missing"],
  ['a negative time', 'burstgpt', burst('-5,GPT-4,20,30'), '3:1 (Timestamp)', '-5 is negative'],
  ['NaN', 'burstgpt', burst('NaN,GPT-4,20,30'), '3:1 (Timestamp)', "'NaN' is not a number"],
  ['an infinite time', 'burstgpt', burst('1e999,GPT-4,20,30'), '3:1 (Timestamp)', "'1e999' is not a number"],
  ['a time too large', 'burstgpt', burst('1e11,GPT-4,20,30'), '3:1 (Timestamp)', 'too large'],
  ['a negative count', 'burstgpt', burst('5,GPT-4,20,-30'), '3:12 (Response tokens)', '-30 is negative'],
  ['a count too large', 'burstgpt', burst('5,GPT-4,3000000000,0'), '3:9 (Request tokens)', '3000000000 is too large'],
  ['a bad duration', 'burstgpt', chats('5,a,soon,GPT-4,2,3'), '2:5 (Elapsed time)', "'soon' is not a number"],
  ['only failed requests', 'burstgpt', burst('5,GPT-4,0,0').replace(',20,30', ',0,0'), '', 'no requests'],

  ['no spans at all', 'otel', '{"resourceSpans": []}', '', 'the file has no spans'],
  ['no call to a model', 'otel', otel({ name: 'GET' }, { name: 'PUT' }), '', 'none of 2 spans is a call'],
  [
    'a negative count',
    'otel',
    attributes({ 'gen_ai.usage.input_tokens': -5 }),
    '1:68 (gen_ai.usage.input_tokens)',
    '-5 is neg',
  ],
  [
    'a word for a count',
    'otel',
    attributes({ 'gen_ai.usage.output_tokens': 'x' }),
    '1:98 (gen_ai.usage.output_tokens)',
    "'x' is",
  ],
  ['not a time', 'otel', otel({ ...SPAN, startTimeUnixNano: undefined }), '1:11 (startTimeUnixNano)', 'is missing'],
  ['a time that is none', 'otel', otel({ ...SPAN, startTimeUnixNano: '-1' }), '1:12 (startTimeUnixNano)', 'not a time'],
  ['an invalid end', 'otel', otel({ ...SPAN, endTimeUnixNano: 'x' }), '1:130 (endTimeUnixNano)', "'x' is not a time"],
  [
    'an invalid date',
    'otel',
    '{"spans":[\n{"start_time":"x",\n"attributes":{"gen_ai.usage.input_tokens":1,"gen_ai.usage.output_tokens":1}}]}',
    '2:2 (start_time)',
    "'x' is not a date",
  ],
  ['a document cut off', 'otel', otel(SPAN).slice(0, -20), '1', 'ends in the middle of its JSON'],
  ['a text cut off', 'otel', '{"spans": ["\n', '1', 'ends in the middle of its JSON'],
  ['a span that is not JSON', 'otel', '{"spans":[\n{"name" "chat"}]}', '2:*', 'the span is not JSON'],
  ['brackets that do not match', 'otel', '{"spans":[}', '1:11', "'}' where ']' was expected"],
  ['a bracket too many', 'otel', '{"spans":[]}\n]', '2:1', "']' closes nothing"],
  ['text between spans', 'otel', '{"spans":[?]}', '1:11', "unexpected character '?'"],
  ['Mooncake after OpenTelemetry', 'otel', `${otel(SPAN)}\n${lines(MOONCAKE)}`, '2:1', 'holds no spans'],
];

describe('readers of traces, given something wrong', () => {
  it.each(BAD)('%s (%s)', async (_, format, content, place, problem) => {
    const error = await failure(format, content);
    const path = join(folder, 't');
    expect(error).toMatchObject({ name: 'InputError', problem: expect.stringContaining(problem) });
    // Node.js versions differ in where they locate a JSON syntax error.
    if (place.endsWith('*')) expect(error.place).toMatch(`${path}:${place.slice(0, -1)}`);
    else expect(error.place).toBe(place === '' ? path : `${path}:${place}`);
    expect(error.hint).not.toBe('');
  });
});
