const MAX_COUNT = 2 ** 31 - 1;
const MAX_TIME = Number.MAX_SAFE_INTEGER;

/** One request of a file of any kind, with errors that name the place. */
export interface TraceRecord {
  /** The value of a field; undefined when it is absent. */
  get(field: string): unknown;
  /** A field that must hold a whole number from 0. */
  count(field: string): number;
  /** A field that must hold a number from 0, whole or not. */
  time(field: string): number;
  /** A field that holds a text or a number, as text; empty when it is absent. */
  name(field: string): string;
  invalid(field: string, problem: string, hint: string): Error;
  /** `trace.csv:14:7 (ContextTokens)`. */
  place(field: string): string;
}

/** Creates the error for an invalid field. */
type FieldErrors = Pick<TraceRecord, 'invalid'>;

/**
 * A number that counts tokens, or an error. `value` is NaN for anything but a number; `given` is the text of the file.
 */
export function checkedCount(record: FieldErrors, field: string, value: number, given: unknown): number {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_COUNT) return value;
  throw numberInvalid(record, field, value, given, Number.isInteger(value), 'whole number', MAX_COUNT);
}

/** A number that is a time or a duration, or an error. */
export function checkedTime(record: FieldErrors, field: string, value: number, given: unknown): number {
  if (value >= 0 && value <= MAX_TIME) return value;
  throw numberInvalid(record, field, value, given, Number.isFinite(value), 'number', MAX_TIME);
}

function numberInvalid(
  record: FieldErrors,
  field: string,
  value: number,
  given: unknown,
  isNumber: boolean,
  kind: string,
  max: number,
): Error {
  const problem = !isNumber
    ? `${shownValue(given)} is not a ${kind}`
    : `${value} is ${value < 0 ? 'negative' : 'too large'}`;
  return record.invalid(field, problem, `give a ${kind} from 0 to ${max}`);
}

/** A time as whole microseconds. `unitUs`: how many of them the file's unit has. */
export function recordMicroseconds(record: TraceRecord, field: string, unitUs: number): number {
  const value = record.time(field);
  const us = Math.round(value * unitUs);
  if (us <= MAX_TIME) return us;
  throw record.invalid(field, `${value} is too large`, `give a number from 0 to ${Math.floor(MAX_TIME / unitUs)}`);
}

/** A value of a file, shortened and on one line. */
export function shownValue(given: unknown): string {
  if (given === '') return 'an empty field';
  const text = typeof given === 'string' ? JSON.stringify(given).slice(1, -1) : (JSON.stringify(given) ?? 'null');
  const short = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  return typeof given === 'string' ? `'${short}'` : short;
}
