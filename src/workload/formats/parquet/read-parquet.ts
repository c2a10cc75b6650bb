import { open } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type ColumnData,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
} from 'hyparquet';
import { readProblem } from '../../../files/file-problem.js';
import { InputError } from '../../../kernel/errors.js';
import { columnsUnknown, fileUnreadable, parquetUnreadable } from '../../errors.js';
import { isGzip, readInputFile } from '../../input-file.js';
import type { Trace } from '../../trace.js';
import { azureRecords } from '../azure.js';
import { bailianRecords } from '../bailian/bailian.js';
import { burstgptRecords } from '../burstgpt.js';
import { mooncakeRecords } from '../mooncake/mooncake.js';
import { type RecordSchema, traceOfRecords } from '../records/record-schema.js';
import { ParquetRecord, TIMESTAMPS_AS_TEXT } from './parquet-record.js';

/** Bailian's columns include Mooncake's, so it is tried first. */
const SCHEMAS: readonly RecordSchema[] = [bailianRecords, mooncakeRecords, azureRecords, burstgptRecords];

const COMPRESSORS = {
  GZIP: (input: Uint8Array) => gunzipSync(input),
  BROTLI: (input: Uint8Array) => brotliDecompressSync(input),
};

/** Reads a Parquet file whose columns are named as one of these formats names them. Holds one of its row groups at a time. */
export async function readParquet(path: string): Promise<Trace> {
  const file = await bufferOf(path);
  const metadata = await parquetErrors(path, () => parquetMetadataAsync(file));
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const schema = SCHEMAS.find(({ required }) => required.every((column) => columns.includes(column)));
  if (schema === undefined) {
    const known = SCHEMAS.map(({ name, required }) => `${name} (${required.join(', ')})`);
    throw columnsUnknown(path, columns, known);
  }
  const wanted = [...schema.required, ...schema.optional].filter((column) => columns.includes(column));
  const reader = schema.reader();
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const chunks = await parquetErrors(path, () => readGroup(file, metadata, wanted, rowStart, rowEnd));
    const record = new ParquetRecord(path, chunks);
    for (let row = rowStart; row < rowEnd; row++) {
      record.row = row;
      reader.add(record, row);
    }
    rowStart = rowEnd;
  }
  const place = (row: number, column: string) => `${path}:row ${row + 1} (${column})`;
  return { ...traceOfRecords(schema, reader, path, place), format: 'parquet' };
}

async function readGroup(
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns: string[],
  rowStart: number,
  rowEnd: number,
): Promise<ColumnData[]> {
  const chunks: ColumnData[] = [];
  await parquetRead({
    file,
    metadata,
    columns,
    rowStart,
    rowEnd,
    compressors: COMPRESSORS,
    parsers: TIMESTAMPS_AS_TEXT,
    onChunk: (chunk) => chunks.push(chunk),
  });
  return chunks;
}

/** A plain file is read in parts. A gzipped one is unpacked completely: Parquet is read from its end. */
async function bufferOf(path: string): Promise<AsyncBuffer> {
  const start = Buffer.alloc(2);
  try {
    const file = await open(path);
    await file.read(start, 0, 2, 0).finally(() => file.close());
  } catch (error) {
    throw fileUnreadable(path, readProblem(error));
  }
  if (!isGzip(start)) return asyncBufferFromFile(path);
  const bytes = Uint8Array.from(await readInputFile(path)).buffer;
  return { byteLength: bytes.byteLength, slice: (begin, end) => bytes.slice(begin, end) };
}

async function parquetErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw parquetUnreadable(path, (error as Error).message);
  }
}
