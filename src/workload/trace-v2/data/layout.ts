import { LF } from '../../../kernel/text/ascii.js';
import { columnsInvalid, traceEmpty } from '../../errors.js';
import type { CsvFile } from './csv-file.js';

/** The columns every trace has, in this order: rows are read by position. */
export const BASE_COLUMNS = [
  'request_id',
  'client_id',
  'tenant_id',
  'slo_class',
  'session_id',
  'round_index',
  'prefix_group',
  'prefix_length',
  'streaming',
  'input_tokens',
  'output_tokens',
  'text_tokens',
  'image_tokens',
  'audio_tokens',
  'video_tokens',
  'reason_ratio',
  'model',
  'deadline_us',
  'server_input_tokens',
  'arrival_time_us',
  'send_time_us',
  'first_chunk_time_us',
  'last_chunk_time_us',
  'num_chunks',
  'status',
  'error_message',
  'finish_reason',
] as const;

const TRAILING_COLUMNS = ['x_request_id', 'adapter', 'think_time_us', 'block_hashes'];

/** The columns of a trace, from its first line. */
export interface TraceLayout {
  /** The meaning of each position: our names where the order is fixed, then the file's own. */
  names: readonly string[];
  /** Columns a row must have at least. */
  required: number;
  /** Offset after the line. */
  end: number;
}

/** The fixed part of a row's layout with the optional columns it uses. */
export function fixedColumns(hasPriority: boolean, hasSloTarget: boolean): string[] {
  return BASE_COLUMNS.flatMap((name) => {
    if (name === 'slo_class' && hasPriority) return [name, 'vllm_priority'];
    if (name === 'deadline_us' && hasSloTarget) return [name, 'slo_target_us'];
    return [name];
  });
}

/**
 * Reads the line of column names. Their spelling does not matter except for the optional columns, but a known name in
 * the place of another means that the rows would be misread: that is an error.
 */
export function readLayout(file: CsvFile, path: string): TraceLayout {
  const given: string[] = [];
  const begins: number[] = [];
  const place = (position: number) =>
    file.place(begins.at(position)!, `column ${(position < 0 ? given.length : 0) + position + 1}`);
  let begin = file.nextRow(file.start);
  if (begin === file.bytes.length) throw traceEmpty(path);
  for (let ended = false; !ended; ) {
    const label = `column ${given.length + 1}`;
    const end = file.fieldEnd(begin, label);
    given.push(file.text(begin, end));
    begins.push(begin);
    ended = file.bytes[end] === LF;
    begin = end + 1;
  }
  if (/^-?\d+$/.test(given[0]!)) {
    throw columnsInvalid(
      place(0),
      'the line of column names is missing',
      `start the file with ${BASE_COLUMNS.join(',')}`,
    );
  }

  const fixed = fixedColumns(given.includes('vllm_priority'), given.includes('slo_target_us'));
  given.forEach((name, position) => {
    const wanted = fixed[position];
    if (name === wanted || !(fixed.includes(name) || (wanted !== undefined && TRAILING_COLUMNS.includes(name)))) return;
    const hint =
      wanted === undefined
        ? `'${name}' is column ${fixed.indexOf(name) + 1}`
        : `column ${position + 1} must be '${wanted}'`;
    throw columnsInvalid(place(position), `column '${name}' is out of place`, hint);
  });
  if (given.length < fixed.length) {
    const missing = fixed.slice(given.length).join(',');
    throw columnsInvalid(place(-1), `only ${given.length} of ${fixed.length} columns`, `add ${missing}`);
  }
  return {
    names: [...fixed, ...given.slice(fixed.length)],
    required: Math.max(fixed.length, ...TRAILING_COLUMNS.map((name) => given.lastIndexOf(name) + 1)),
    end: begin,
  };
}
