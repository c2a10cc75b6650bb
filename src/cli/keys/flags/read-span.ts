import { parseDuration } from '../../../kernel/text/duration.js';
import { badValue } from '../../errors.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LONGEST_MS = 100 * 366 * 86_400_000;

export const SPANS = "a duration with its unit, as in '90m', '24h' or '30d'";
export const MOMENTS = "'never', a duration as in '30d', a day as in '2030-01-31' or a time as in '2030-01-31T18:00Z'";

/** `90m`, `24h`, `30d`, `1h30m`; `0` alone needs no unit. Whole milliseconds, a hundred years at most. */
export function readSpan(text: string, place: string, accepted = SPANS): number {
  const us = parseDuration(text.trim());
  if (us === null) {
    const bare = /^\d+$/.test(text.trim());
    throw badValue(place, text, bare ? 'has no unit' : 'is not a duration', accepted);
  }
  const ms = Math.round(us / 1000);
  if (ms > LONGEST_MS) throw badValue(place, text, 'is too long', 'a hundred years at most');
  return ms;
}

/** When something is to be: milliseconds since 1970 if now is `now`; null for never. */
export type Moment = (now: number) => number | null;

/** A day begins at midnight UTC; a time includes its zone. */
export function readMoment(text: string, place: string): Moment {
  const given = text.trim();
  if (given === 'never') return () => null;
  if (given !== '0' && parseDuration(given) !== null) {
    const span = readSpan(given, place);
    return (now) => now + span;
  }
  const at = isDay(given) || /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at)) throw badValue(place, text, 'is not a time', MOMENTS);
  return () => at;
}

/** A day of the calendar, as `2026-02-28` and unlike `2026-02-30`. */
export function readDay(text: string, place: string): string {
  const given = text.trim();
  if (!isDay(given)) throw badValue(place, text, 'is not a day', "one as in '2026-01-31'");
  return given;
}

function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
