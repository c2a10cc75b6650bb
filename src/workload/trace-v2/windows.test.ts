import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csv } from './data/csv-text.fixture.js';
import { readTraceData, type TraceData, TraceDataReader } from './data/read-data.js';

const TEXT = csv([
  { client_id: 'a', tenant_id: '"two\nlines, ""quoted"""', image_tokens: '7' },
  { client_id: 'b', model: '"m\r\n"', reason_ratio: '0.5', arrival_time_us: '2000' },
  { client_id: 'a', error_message: '"ends with a quote"', finish_reason: '"x"', arrival_time_us: '3000' },
  { session_id: 'ünï', arrival_time_us: '4000', send_time_us: '4001' },
]);

function readInPieces(bytes: Buffer, cuts: readonly number[]): TraceData {
  const reader = new TraceDataReader('t.csv', 0, () => bytes);
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    reader.push(Buffer.from(bytes.subarray(from, cut)), false);
    from = cut;
  }
  reader.push(bytes.subarray(from), true);
  return reader.finish(false);
}

/** Everything that was read, as plain data. */
function contents({ table, thinkTimeUs, unsorted, wantedUs }: TraceData) {
  const cut = (column: { subarray(from: number, to: number): Iterable<number> }) => [
    ...column.subarray(0, table.count),
  ];
  const columns = Object.entries(table).flatMap(([name, value]) =>
    ArrayBuffer.isView(value) ? [[name, cut(value as Float64Array)]] : [],
  );
  const names = [table.clients, table.tenants, table.models, table.sessions].map((one) => one.names());
  const kinds = table.kinds === null ? null : Object.values(table.kinds).map(cut);
  return { columns, names, kinds, wanted: cut(wantedUs), thinkTimeUs, unsorted };
}

describe('TraceDataReader', () => {
  const bytes = Buffer.from(TEXT);
  const whole = contents(readTraceData(bytes, 't.csv', false));

  it('reads the same for any chunks', () => {
    expect(whole.kinds).not.toBeNull();
    expect(whole.names[1]).toContain('two\nlines, "quoted"');
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        expect(contents(readInPieces(bytes, cuts))).toEqual(whole);
      }),
    );
    expect(contents(readInPieces(bytes, Array.from(bytes.keys())))).toEqual(whole);
  });

  it.each([
    ['\n9,c,,,,x,', 't.csv:9:8 (round_index)'],
    ['\n9,"never', 't.csv:9:3 (client_id)'],
  ])('names the place of an error in a later chunk: %j', (tail, place) => {
    const bad = Buffer.from(`${TEXT}${tail}`);
    expect(() => readInPieces(bad, [50, 400, TEXT.length])).toThrowError(expect.objectContaining({ place }));
  });

  it('names the place of an error found when all is read', () => {
    const bad = Buffer.from(`${TEXT}${TEXT.split('\n')[1]}\n${TEXT.split('\n')[2]}\n`);
    expect(() => readInPieces(bad, [50, 400])).toThrowError(
      expect.objectContaining({ code: 'TRACE_DUPLICATE_ID', place: expect.stringMatching(/^t\.csv:8:1 /) }),
    );
  });
});
