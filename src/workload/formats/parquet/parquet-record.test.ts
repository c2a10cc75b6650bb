import { describe, expect, it } from 'vitest';
import { ParquetRecord, TIMESTAMPS_AS_TEXT } from './parquet-record.js';

describe('ParquetRecord', () => {
  const chunk = (columnName: string, rowStart: number, columnData: unknown[]) => ({
    columnName,
    columnData,
    rowStart,
    rowEnd: rowStart + columnData.length,
  });
  const record = new ParquetRecord('t.parquet', [
    chunk('a', 10, [1n, 2n]),
    chunk('a', 12, [3n, null]),
    chunk('ids', 10, [[5n, 6n], [], null, [7n]]),
  ]);

  it('finds a row in the column chunk that holds it', () => {
    const values = [10, 11, 12, 13, 14].map((row) => {
      record.row = row;
      return [record.get('a'), record.get('ids'), record.name('a')];
    });
    expect(values).toEqual([
      [1, [5, 6], '1'],
      [2, [], '2'],
      [3, null, '3'],
      [null, [7], ''],
      [undefined, undefined, ''],
    ]);
    expect(record.get('b')).toBeUndefined();
  });

  it('names the row where a column is missing', () => {
    record.row = 11;
    expect(() => record.time('b')).toThrow('t.parquet:row 12 (b): is missing; give a number from 0');
  });
});

describe('TIMESTAMPS_AS_TEXT', () => {
  it('keeps microseconds, also before 1970', () => {
    const { timestampFromMicroseconds, timestampFromMilliseconds, timestampFromNanoseconds } = TIMESTAMPS_AS_TEXT;
    expect(timestampFromMicroseconds(1_700_158_546_680_597n)).toBe('2023-11-16T18:15:46.680597Z');
    expect(timestampFromMilliseconds(1_700_158_546_680n)).toBe('2023-11-16T18:15:46.680000Z');
    expect(timestampFromNanoseconds(1_700_158_546_680_597_500n)).toBe('2023-11-16T18:15:46.680598Z');
    expect(timestampFromMicroseconds(-1n)).toBe('1969-12-31T23:59:59.999999Z');
  });
});
