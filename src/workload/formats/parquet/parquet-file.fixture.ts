import { brotliCompressSync, gzipSync } from 'node:zlib';

/** A column of a Parquet file for tests: all values of one kind, or lists of whole numbers. `null` for an absent value. */
export interface TestColumn {
  name: string;
  holds: 'whole' | 'number' | 'text' | 'micros' | 'list';
  values: readonly unknown[];
}

const TYPES = { whole: 2, number: 5, text: 6, micros: 2, list: 2 };
const CONVERTED = { whole: undefined, number: undefined, text: 0, micros: 10, list: undefined };
/** Zstandard is only named, for tests that are refused: nothing is compressed by it. */
const CODECS = { plain: 0, gzip: 2, brotli: 4, zstd: 6 };
const PACKED = { plain: same, gzip: gzipSync, brotli: brotliCompressSync, zstd: same };
export type TestCodec = keyof typeof CODECS;

/** Writes a Parquet file, plainly encoded, `groupRows` rows to a group. */
export function parquetFile(columns: readonly TestColumn[], groupRows = 1000, codec: TestCodec = 'plain') {
  const parts: Buffer[] = [Buffer.from('PAR1')];
  let offset = 4;
  const rows = columns[0]!.values.length;
  const groups: Buffer[] = [];
  for (let begin = 0; begin < rows; begin += groupRows) {
    const chunks = columns.map((column) => {
      const values = column.values.slice(begin, begin + groupRows);
      const count = column.holds === 'list' ? values.flat().length : values.length;
      const page = pageOf(column.holds, values);
      const packed = PACKED[codec](page);
      const pageInfo = struct([1, int(count)], [2, int(0)], [3, int(3)], [4, int(3)]);
      const header = struct([1, int(0)], [2, int(page.length)], [3, int(packed.length)], [5, pageInfo]);
      const size = header.bytes.length + packed.length;
      const path = column.holds === 'list' ? [column.name, 'list', 'element'] : [column.name];
      const meta = struct(
        [1, int(TYPES[column.holds])],
        [2, list(5, [int(0), int(3)])],
        [3, list(8, path.map(text))],
        [4, int(CODECS[codec])],
        [5, long(count)],
        [6, long(header.bytes.length + page.length)],
        [7, long(size)],
        [9, long(offset)],
      );
      parts.push(header.bytes, packed);
      offset += size;
      return struct([2, long(offset)], [3, meta]);
    });
    const groupSize = Math.min(groupRows, rows - begin);
    groups.push(struct([1, list(12, chunks)], [2, long(0)], [3, long(groupSize)]).bytes);
  }
  const schema = [struct([4, text('schema')], [5, int(columns.length)]), ...columns.flatMap(elements)];
  const footer = struct(
    [1, int(1)],
    [2, list(12, schema)],
    [3, long(rows)],
    [
      4,
      list(
        12,
        groups.map((bytes) => ({ type: 12, bytes })),
      ),
    ],
  ).bytes;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, Buffer.from('PAR1')]);
}

/** The schema of a column: optional values, required lists of required numbers. */
function elements({ holds, name }: TestColumn): Value[] {
  const converted = CONVERTED[holds];
  if (holds !== 'list') {
    const type: [number, Value][] = [
      [1, int(TYPES[holds])],
      [3, int(1)],
      [4, text(name)],
    ];
    return [struct(...type, ...(converted === undefined ? [] : [[6, int(converted)] as [number, Value]]))];
  }
  return [
    struct([3, int(0)], [4, text(name)], [5, int(1)], [6, int(3)]),
    struct([3, int(2)], [4, text('list')], [5, int(1)]),
    struct([1, int(2)], [3, int(0)], [4, text('element')]),
  ];
}

function pageOf(holds: TestColumn['holds'], values: readonly unknown[]): Buffer {
  if (holds === 'list') {
    const lists = values as number[][];
    const repeated = lists.flatMap((ids) => ids.map((_, i) => (i === 0 ? 0 : 1)));
    return Buffer.concat([
      levels(repeated),
      levels(repeated.map(() => 1)),
      ...lists.flat().map((id) => plain('whole', id)),
    ]);
  }
  const given = values.filter((value) => value !== null);
  return Buffer.concat([
    levels(values.map((value) => (value === null ? 0 : 1))),
    ...given.map((one) => plain(holds, one)),
  ]);
}

function plain(holds: TestColumn['holds'], value: unknown): Buffer {
  const bytes = Buffer.alloc(holds === 'text' ? 4 : 8);
  if (holds === 'text') {
    bytes.writeUInt32LE(Buffer.byteLength(value as string));
    return Buffer.concat([bytes, Buffer.from(value as string)]);
  }
  if (holds === 'number') bytes.writeDoubleLE(value as number);
  else bytes.writeBigInt64LE(BigInt(value as number));
  return bytes;
}

/** Levels of one bit, each as its own run. */
function levels(bits: readonly number[]): Buffer {
  const runs = Buffer.from(bits.flatMap((bit) => [2, bit]));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(runs.length);
  return Buffer.concat([length, runs]);
}

/** Thrift's compact encoding, as much as Parquet's footer needs. */
interface Value {
  type: number;
  bytes: Buffer;
}

function struct(...fields: [number, Value][]): Value {
  let last = 0;
  const parts = fields.flatMap(([id, value]) => {
    const head = Buffer.from([((id - last) << 4) | value.type]);
    last = id;
    return [head, value.bytes];
  });
  return { type: 12, bytes: Buffer.concat([...parts, Buffer.from([0])]) };
}

function list(type: number, values: readonly Value[]): Value {
  const head = values.length < 15 ? [(values.length << 4) | type] : [0xf0 | type, ...varint(BigInt(values.length))];
  return { type: 9, bytes: Buffer.concat([Buffer.from(head), ...values.map(({ bytes }) => bytes)]) };
}

function int(value: number): Value {
  return { type: 5, bytes: Buffer.from(varint(BigInt(value) * 2n)) };
}

function long(value: number): Value {
  return { type: 6, bytes: Buffer.from(varint(BigInt(value) * 2n)) };
}

function text(value: string): Value {
  const bytes = Buffer.from(value);
  return { type: 8, bytes: Buffer.concat([Buffer.from(varint(BigInt(bytes.length))), bytes]) };
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}

function same(bytes: Buffer): Buffer {
  return bytes;
}
