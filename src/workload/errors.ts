import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/text/nearest-name.js';
import type { SchemaCodes } from '../schema/problems.js';

/** Every InputError of this layer, by what went wrong. Codes are stable. */

export function fileUnreadable(path: string, problem: string): InputError {
  return new InputError('FILE_UNREADABLE', path, problem, 'give the path of a readable file');
}

export function fileDamaged(path: string, problem: string): InputError {
  return new InputError('FILE_DAMAGED', path, problem, 'compress or copy the file again');
}

export function headerInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('TRACE_HEADER_INVALID', place, problem, hint);
}

export const HEADER_CODES: SchemaCodes = { invalid: 'TRACE_HEADER_INVALID', unknownKey: 'TRACE_HEADER_UNKNOWN_KEY' };

export function columnsInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('TRACE_COLUMNS_INVALID', place, problem, hint);
}

export function rowTooShort(place: string, found: number, required: number, truncated: boolean): InputError {
  const problem = `${truncated ? 'the file ends in the middle of a row' : 'the row is too short'}: ${columns(found)}, at least ${required} are needed`;
  const hint = truncated ? 'write the trace again or remove its last line' : 'give every column, empty where unknown';
  return new InputError('TRACE_ROW_SHORT', place, problem, hint);
}

export function fieldInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('TRACE_FIELD_INVALID', place, problem, hint);
}

export function deadlineTooEarly(place: string, deadline: number, arrival: number): InputError {
  return fieldInvalid(
    place,
    `the deadline ${deadline} is before the arrival at ${arrival}`,
    'give the time on the same axis as arrival_time_us, or 0 for none',
  );
}

export function tracePromptTooLong(place: string, tokens: number): InputError {
  return fieldInvalid(place, `the prompt has ${tokens} tokens with its group's prefix`, `give at most ${2 ** 31 - 1}`);
}

export function requestEmpty(place: string): InputError {
  return fieldInvalid(place, 'the request has neither input nor output', 'give it at least one token of either');
}

export function traceEmpty(file: string): InputError {
  return new InputError(
    'TRACE_EMPTY',
    file,
    'the trace has no requests',
    'give at least one row below the column names',
  );
}

/** @param formats every known format, with what its files start with */
export function formatUnknown(path: string, formats: readonly { name: string; looksLike: string }[]): InputError {
  const known = formats.map(({ name, looksLike }) => `${name} (${looksLike})`).join(', ');
  return new InputError('TRACE_FORMAT_UNKNOWN', path, 'is not a trace of a known format', `known: ${known}`);
}

export function workloadNotTrace(path: string): InputError {
  return new InputError(
    'TRACE_FORMAT_UNKNOWN',
    path,
    'is a workload of inference-perf, not a trace',
    "give it to 'run --workload-spec' or to 'convert inference-perf'",
  );
}

export function duplicateId(place: string, id: number, firstPlace: string): InputError {
  return new InputError(
    'TRACE_DUPLICATE_ID',
    place,
    `request_id ${id} was used before, at ${firstPlace}`,
    'number the requests so that no id repeats',
  );
}

export function sessionInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('SESSION_INVALID', place, problem, hint);
}

export function thinkTimeInvalid(flag: string, problem: string, hint: string): InputError {
  return new InputError('THINK_TIME_INVALID', flag, problem, hint);
}

export function workloadFlagInvalid(flag: string, problem: string, hint: string): InputError {
  return new InputError('WORKLOAD_FLAG_INVALID', flag, problem, hint);
}

export function unknownWorkload(name: string, known: readonly string[]): InputError {
  return new InputError('WORKLOAD_UNKNOWN', '--workload', `unknown workload '${name}'`, knownNames(name, known));
}

/** Trace formats other than TraceV2, and workloads in the formats of other tools. */

export function rowTooLong(place: string, found: number, wanted: number): InputError {
  const problem = `the row has ${columns(found)}, the first line names ${wanted}`;
  return new InputError('TRACE_ROW_LONG', place, problem, 'put texts with commas into double quotes');
}

export function columnsRepeated(place: string): InputError {
  return columnsInvalid(place, 'the column names come again', 'keep them on the first line only');
}

export function formatsMixed(place: string, found: string, expected: string): InputError {
  const problem = `this is ${found}, but the file starts as ${expected}`;
  return new InputError('TRACE_FORMATS_MIXED', place, problem, 'put traces of different formats into different files');
}

/** A part was requested of a trace that does not record models and outcomes. */
export function partUnknown(path: string, format: string): InputError {
  const problem = `${format} traces do not record the model and the outcome of requests`;
  return new InputError('TRACE_PART_UNKNOWN', path, problem, 'leave --trace-model and --trace-answered out');
}

/** @param known the models of the requests */
export function partEmpty(path: string, model: string | undefined, known: readonly string[]): InputError {
  if (model !== undefined && !known.includes(model)) {
    return new InputError('TRACE_PART_EMPTY', path, `no request is for the model '${model}'`, knownNames(model, known));
  }
  const hint = 'leave --trace-answered out';
  return new InputError('TRACE_PART_EMPTY', path, 'no request has a complete response', hint);
}

/** @param known the endpoints of the requests */
export function endpointEmpty(path: string, endpoint: string, known: readonly string[]): InputError {
  const problem = `no request is of the endpoint '${endpoint}'`;
  return new InputError('TRACE_PART_EMPTY', path, problem, knownNames(endpoint, known));
}

/** @param spans the number of spans of any kind */
export function callsMissing(path: string, spans: number): InputError {
  const problem = spans === 0 ? 'the file has no spans' : `none of ${spans} spans is a call to a model`;
  const hint = 'export spans that have gen_ai.usage.input_tokens and gen_ai.usage.output_tokens';
  return new InputError('TRACE_EMPTY', path, problem, hint);
}

/** A trace that lists the blocks of its prompts must state their size. */
export function blocksUnsized(path: string): InputError {
  const problem = 'the size of the blocks is not given';
  return columnsInvalid(`${path} (block_hashes)`, problem, "set it in the header: 'block_tokens: 512'");
}

export function tooManyBlocks(place: string, found: number, most: number, blockTokens: number): InputError {
  const problem = `${found} blocks of ${blockTokens} tokens for a shorter prompt`;
  return fieldInvalid(place, problem, `give at most ${most}, or more input_tokens`);
}

export function parquetUnreadable(path: string, problem: string): InputError {
  const hint = 'write the file again, uncompressed or with Snappy, gzip or Brotli';
  return new InputError('FILE_DAMAGED', path, `the Parquet file cannot be read (${problem})`, hint);
}

/** @param known the sets of columns that are read, by format */
export function columnsUnknown(path: string, found: readonly string[], known: readonly string[]): InputError {
  return columnsInvalid(path, `has the columns ${found.join(', ')}`, `give those of ${known.join(', or ')}`);
}

/** A folder that describes a workload. */
export function workloadFolderInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('WORKLOAD_FOLDER_INVALID', place, problem, hint);
}

function columns(count: number): string {
  return count === 1 ? '1 column' : `${count} columns`;
}

// Workload specifications.

export function specInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('WORKLOAD_SPEC_INVALID', place, problem, hint);
}

export const SPEC_CODES: SchemaCodes = { invalid: 'WORKLOAD_SPEC_INVALID', unknownKey: 'WORKLOAD_SPEC_UNKNOWN_KEY' };

/** A specification whose keys are all valid, but which cannot be generated. */
export function workloadImpossible(client: string, problem: string, hint: string): InputError {
  return new InputError('WORKLOAD_IMPOSSIBLE', `client '${client}'`, problem, hint);
}

export function workloadTooLarge(requests: number, most: number): InputError {
  const problem = `about ${Math.round(requests)} requests arrive before the horizon`;
  return new InputError(
    'WORKLOAD_IMPOSSIBLE',
    'horizon',
    problem,
    `give num_requests, or an earlier one: at most ${most}`,
  );
}

/** Synthetic traces, and specifications fitted to traces. */

export function synthInvalid(flag: string, problem: string, hint: string): InputError {
  return new InputError('SYNTH_INVALID', flag, problem, hint);
}

export function fitImpossible(place: string, problem: string, hint: string): InputError {
  return new InputError('FIT_IMPOSSIBLE', place, problem, hint);
}
