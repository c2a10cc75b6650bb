const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Whether this is a day that exists, as in 2030-01-31. */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // The 31st of February is read as the 3rd of March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Milliseconds since 1970 of a time as in 2030-01-31T00:00:00Z, or of a day's beginning in UTC; null when it is neither. */
export function readTime(text: string): number | null {
  const match = TIME.exec(text);
  if (match === null || !isDay(match[1]!)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
