import { InputError } from '../../kernel/errors.js';

/** The values that a setting takes in a sweep: some, or all between two bounds, from which samples draw. */
export type AxisValues = { kind: 'list'; values: readonly string[] } | AxisSpan;

export interface AxisSpan {
  kind: 'span';
  from: number;
  to: number;
  /** Equal ratios are equally likely, instead of equal differences. */
  isLog: boolean;
  isWhole: boolean;
}

/** A setting that a sweep varies. */
export interface SweepAxis {
  /** A flag without its dashes, or a key of a file that a flag names: `policy-config:routing.policy`. */
  name: string;
  values: AxisValues;
  /** Where it was written, for errors. */
  place: string;
}

export const AXIS_FORMS =
  "values as '4,6,8' (with ';' between values that contain commas), a range as '10..100:10', '1..1000:log7' for 7 values in equal ratios, or '10..100' and '10..100:log' to draw from";

const MOST_VALUES = 10_000;
const RANGE = /^([-+.\deE]+)\.\.([-+.\deE]+?)(?::(.*))?$/;

/**
 * The values of an axis as they are written on a command line.
 * @param isWhole whether the setting takes whole numbers only: values of ranges are rounded
 */
export function readAxisValues(text: string, place: string, isWhole: boolean): AxisValues {
  const range = RANGE.exec(text.trim());
  if (range !== null) return readRange(range, text, place, isWhole);
  const items = text.split(text.includes(';') ? ';' : ',').map((item) => item.trim());
  return listOfValues(items, text, place);
}

/** One that is given twice counts once. */
export function listOfValues(items: readonly string[], text: string, place: string): AxisValues {
  if (items.length === 0 || items.some((item) => item === '')) {
    throw badAxis(place, text.trim() === '' ? 'has no values' : `has an empty value in '${text}'`);
  }
  return { kind: 'list', values: [...new Set(items)] };
}

function readRange(range: RegExpExecArray, text: string, place: string, isWhole: boolean): AxisValues {
  const [from, to] = [Number(range[1]), Number(range[2])];
  if (!Number.isFinite(from) || !Number.isFinite(to)) throw badAxis(place, `'${text}' has a bound that is no number`);
  if (from >= to) throw badAxis(place, `'${text}' ends at or before its start`);
  const step = range[3];
  const isLog = step?.startsWith('log') === true;
  if (isLog && from <= 0) throw badAxis(place, `'${text}' is logarithmic and does not start above 0`);
  if (step === undefined || step === 'log') return { kind: 'span', from, to, isLog, isWhole };
  const values = isLog ? logValues(from, to, step.slice(3), text, place) : linearValues(from, to, step, text, place);
  return { kind: 'list', values: [...new Set(values.map((value) => numberText(value, isWhole)))] };
}

function linearValues(from: number, to: number, given: string, text: string, place: string): number[] {
  const step = given.trim() === '' ? Number.NaN : Number(given);
  if (!(step > 0)) throw badAxis(place, `'${text}' has a step that is no number above 0`);
  // A step that ends a rounding error below the bound reaches it.
  const count = Math.floor((to - from) / step + 1e-9) + 1;
  if (count > MOST_VALUES) throw badAxis(place, `'${text}' has ${count} values, more than ${MOST_VALUES}`);
  return Array.from({ length: count }, (_, i) => from + i * step);
}

/** The bounds as given, and between them three significant digits: powers differ in their last bits between machines. */
function logValues(from: number, to: number, given: string, text: string, place: string): number[] {
  const count = Number(given);
  if (!Number.isInteger(count) || count < 2 || count > MOST_VALUES) {
    throw badAxis(place, `'${text}' has no number of values from 2 to ${MOST_VALUES} after 'log'`);
  }
  return Array.from({ length: count }, (_, i) => {
    if (i === 0) return from;
    return i === count - 1 ? to : Number((from * (to / from) ** (i / (count - 1))).toPrecision(3));
  });
}

/** The value of a span at a share of the way, from 0 up to but not including 1. */
export function spanValue({ from, to, isLog, isWhole }: AxisSpan, share: number): string {
  if (isWhole && !isLog) return String(Math.floor(from + share * (to - from + 1)));
  const value = isLog ? from * (to / from) ** share : from + share * (to - from);
  return isWhole ? String(Math.round(value)) : String(Number(value.toPrecision(4)));
}

/** 0.30000000000000004 as 0.3. */
function numberText(value: number, isWhole: boolean): string {
  return String(isWhole ? Math.round(value) : Number(value.toPrecision(12)));
}

function badAxis(place: string, problem: string): InputError {
  return new InputError('BAD_AXIS', place, problem, `give ${AXIS_FORMS}`);
}
