import { describe, expect, it } from 'vitest';
import { told } from '../format.contract.js';
import { temporaryFiles } from '../samples.fixture.js';
import { parquet } from './parquet.js';
import { parquetFile, type TestCodec, type TestColumn } from './parquet-file.fixture.js';

const written = temporaryFiles();
const read = (columns: readonly TestColumn[], groupRows?: number, codec?: TestCodec) =>
  parquet.read(written('t.parquet', parquetFile(columns, groupRows, codec)));

const MOONCAKE: readonly TestColumn[] = [
  { name: 'timestamp', holds: 'whole', values: [0, 1000, 500] },
  { name: 'input_length', holds: 'whole', values: [1024, 600, 512] },
  { name: 'output_length', holds: 'whole', values: [4, 5, 6] },
  { name: 'hash_ids', holds: 'list', values: [[1, 2], [1, 9], [7]] },
];

describe('parquet', () => {
  it.each([1, 2, 3, 100])('reads the columns of Mooncake, %i rows to a group', async (groupRows) => {
    expect(told(await read(MOONCAKE, groupRows))).toMatchObject({
      arrivalUs: [0, 1_000_000, 500_000],
      blocks: [[0, 1], [0, 2], [3]],
      unsorted: true,
    });
  });

  it('reads the columns of Bailian', async () => {
    const chats: readonly TestColumn[] = [
      { name: 'chat_id', holds: 'whole', values: [1, 2, 3] },
      { name: 'parent_chat_id', holds: 'whole', values: [-1, 1, null] },
      { name: 'turn', holds: 'whole', values: [1, 2, 1] },
      { name: 'type', holds: 'text', values: ['text', 'file', null] },
    ];
    expect(told(await read([...chats, ...MOONCAKE]))).toMatchObject({
      format: 'parquet',
      arrivalUs: [0, 1_000_000_000, 500_000_000],
      sessions: ['1', '1', '3'],
      rounds: [0, 1, 0],
      clients: ['text', 'file', ''],
    });
  });

  it('reads the columns of Azure, with dates as dates or as text, to the microsecond', async () => {
    const lengths: readonly TestColumn[] = [
      { name: 'ContextTokens', holds: 'whole', values: [10, 20] },
      { name: 'GeneratedTokens', holds: 'whole', values: [1, 2] },
    ];
    const dates: TestColumn = {
      name: 'TIMESTAMP',
      holds: 'micros',
      values: [1_700_158_546_680_590, 1_700_158_546_680_597],
    };
    const texts: TestColumn = {
      name: 'TIMESTAMP',
      holds: 'text',
      values: ['2023-11-16 18:15:46.680590', '2023-11-16 18:15:46.680597'],
    };
    for (const column of [dates, texts])
      expect(told(await read([...lengths, column]))).toMatchObject({ arrivalUs: [0, 7] });
  });

  it.each<TestCodec>(['gzip', 'brotli'])('reads the columns of BurstGPT, compressed with %s', async (codec) => {
    const columns: readonly TestColumn[] = [
      { name: 'Timestamp', holds: 'number', values: [1.5, 2] },
      { name: 'Model', holds: 'text', values: ['a', 'b'] },
      { name: 'Request tokens', holds: 'number', values: [10, 0] },
      { name: 'Response tokens', holds: 'whole', values: [0, 0] },
    ];
    expect(told(await read(columns, 1, codec))).toMatchObject({
      arrivalUs: [1_500_000],
      clients: ['a'],
      notes: ['failed requests without a token were left out: 1'],
    });
  });

  it.each<[string, readonly TestColumn[], string, string]>([
    [
      'a negative length',
      [...MOONCAKE.slice(0, 2), { ...MOONCAKE[2]!, values: [1, -5, 1] }, MOONCAKE[3]!],
      ':row 2 (output_length)',
      '-5 is negative',
    ],
    [
      'an absent length',
      [...MOONCAKE.slice(0, 2), { ...MOONCAKE[2]!, values: [1, 2, null] }, MOONCAKE[3]!],
      ':row 3 (output_length)',
      'null is not a whole number',
    ],
    [
      'a text for a time',
      [{ name: 'timestamp', holds: 'text', values: ['1', '2', '3'] }, ...MOONCAKE.slice(1)],
      ':row 1 (timestamp)',
      "'1' is not a number",
    ],
    ['unknown columns', [MOONCAKE[0]!, MOONCAKE[1]!], '', 'has the columns timestamp, input_length'],
  ])('names the place of %s', async (_, columns, place, problem) => {
    const path = written('t.parquet', '');
    await expect(read(columns)).rejects.toMatchObject({
      name: 'InputError',
      place: `${path}${place}`,
      problem: expect.stringContaining(problem),
    });
  });

  it('names the place of a row after reading', async () => {
    expect((await read(MOONCAKE)).place(2, 'input_tokens')).toMatch(/t\.parquet:row 3 \(input_length\)$/);
  });

  it('refuses an unknown compression and a file that is cut off', async () => {
    await expect(read(MOONCAKE, 3, 'zstd')).rejects.toMatchObject({
      code: 'FILE_DAMAGED',
      problem: expect.stringContaining('ZSTD'),
    });
    const path = written('cut.parquet', parquetFile(MOONCAKE).subarray(0, -6));
    await expect(parquet.read(path)).rejects.toMatchObject({ code: 'FILE_DAMAGED', place: path });
  });
});
