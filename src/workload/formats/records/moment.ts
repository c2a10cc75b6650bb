const FORM = '0000-00-00 00:00:00';
const ZERO = 48;
const NINE = 57;
const DOT = 46;
const ZONE = /^ ?(?:Z|UTC|([+-])(\d\d)(?::?(\d\d))?)$/;
/** Digits of a second's fraction that are read. */
const FRACTION_DIGITS = 9;

/**
 * A date and time as microseconds since 1970, such as `2023-11-16 18:15:46.6805900` or `2024-05-10T00:00:01+00:00`;
 * further digits are rounded. Without an offset it is UTC. NaN for anything else.
 */
export function momentUs(text: string): number {
  if (!hasForm(text)) return Number.NaN;
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)];
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)];
  const isDate = month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= daysOf(month, year));
  if (!isDate || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  let end = FORM.length;
  let fraction = 0;
  if (text.charCodeAt(end) === DOT) {
    const begin = end + 1;
    while (isDigit(text.charCodeAt(end + 1))) end++;
    const length = end + 1 - begin;
    if (length === 0 || length > FRACTION_DIGITS) return Number.NaN;
    fraction = Math.round((digits(text, begin, ++end) * 10 ** (FRACTION_DIGITS - length)) / 1000);
  }
  const utcMs = Date.UTC(year, month - 1, day, hour, minute, second);
  return (utcMs - (end === text.length ? 0 : offsetMs(text.slice(end)))) * 1000 + fraction;
}

/** The offset of a time zone from UTC; NaN when the text is not a time zone. */
function offsetMs(text: string): number {
  if (text === '+00:00') return 0;
  const match = ZONE.exec(text);
  if (match === null) return Number.NaN;
  const [, sign, hours = '0', minutes = '0'] = match;
  if (+hours > 23 || +minutes > 59) return Number.NaN;
  return (+hours * 60 + +minutes) * 60_000 * (sign === '-' ? -1 : 1);
}

function hasForm(text: string): boolean {
  if (text.length < FORM.length) return false;
  for (let i = 0; i < FORM.length; i++) {
    const code = text.charCodeAt(i);
    const wanted = FORM.charCodeAt(i);
    if (wanted === ZERO ? !isDigit(code) : code !== wanted && !(i === 10 && text[i] === 'T')) return false;
  }
  return true;
}

function daysOf(month: number, year: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function digits(text: string, begin: number, end: number): number {
  let value = 0;
  for (let i = begin; i < end; i++) value = value * 10 + (text.charCodeAt(i) - ZERO);
  return value;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
