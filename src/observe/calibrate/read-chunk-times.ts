import { CsvRecord } from '../../workload/formats/records/csv-record.js';
import { forEachLine } from '../../workload/input-chunks.js';
import { chunkTimesInvalid } from './errors.js';
import type { RecordedChunks } from './token-gaps.js';

const COLUMNS = ['request_id', 'chunk_index', 'timestamp_us'];

/** Reads the times of single chunks: a CSV with a row for each, in any order. */
export async function readChunkTimes(path: string): Promise<RecordedChunks> {
  const chunks = new Map<number, [index: number, us: number][]>();
  let record: CsvRecord | null = null;
  await forEachLine(path, (line, number) => {
    if (line.trim() === '') return;
    if (record === null) {
      record = new CsvRecord(path, line, number, COLUMNS);
      return;
    }
    record.read(line, number);
    const id = record.count('request_id');
    const chunk: [number, number] = [record.count('chunk_index'), record.time('timestamp_us')];
    const own = chunks.get(id);
    if (own === undefined) chunks.set(id, [chunk]);
    else own.push(chunk);
  });
  if (chunks.size === 0) throw chunkTimesInvalid(path, 'holds no times', `give rows of ${COLUMNS.join(', ')}`);
  const times = [...chunks].map(([id, own]): [number, number[]] => {
    own.sort((a, b) => a[0] - b[0]);
    return [id, own.map(([, us]) => us)];
  });
  return new Map(times);
}
