import { badValue } from '../errors.js';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export interface NumberBounds {
  min: number;
  max: number;
  /** The bounds themselves are not allowed. */
  above?: boolean;
  whole?: boolean;
}

/** "a whole number from 1 to 64", "a number above 0". */
export function describeBounds({ min, max, above, whole }: NumberBounds): string {
  const noun = whole ? 'a whole number' : 'a number';
  const from = above ? `above ${min}` : max === unbounded(whole) ? `of at least ${min}` : `from ${min}`;
  if (max === unbounded(whole)) return min === Number.NEGATIVE_INFINITY ? noun : `${noun} ${from}`;
  if (min === Number.NEGATIVE_INFINITY) return `${noun} up to ${max}`;
  return `${noun} ${from} ${above ? 'and up ' : ''}to ${max}`;
}

function unbounded(whole: boolean | undefined): number {
  return whole ? Number.MAX_SAFE_INTEGER : Number.POSITIVE_INFINITY;
}

/** Like `describeBounds`, and names the upper bound even where it is only what numbers can hold. */
function upTo(bounds: NumberBounds): string {
  if (bounds.max !== unbounded(bounds.whole)) return describeBounds(bounds);
  return `${describeBounds(bounds)}, at most ${bounds.whole ? bounds.max : Number.MAX_VALUE}`;
}

/** A finite number within bounds, or an error that says which rule it breaks. */
export function readNumber(text: string, place: string, bounds: NumberBounds): number {
  const accepted = describeBounds(bounds);
  const tooLarge = () => badValue(place, text, 'is too large', upTo(bounds));
  if (!NUMBER.test(text.trim())) throw badValue(place, text, 'is not a number', accepted);
  const value = Number(text);
  if (!Number.isFinite(value)) throw tooLarge();
  if (bounds.whole && Math.abs(value) > Number.MAX_SAFE_INTEGER) throw tooLarge();
  if (bounds.whole && !Number.isInteger(value)) throw badValue(place, text, 'is not a whole number', accepted);
  if (value < 0 && bounds.min >= 0) throw badValue(place, text, 'is negative', accepted);
  if (value < bounds.min || (bounds.above && value === bounds.min))
    throw badValue(place, text, 'is too small', accepted);
  if (value > bounds.max) throw tooLarge();
  return value === 0 ? 0 : value;
}
