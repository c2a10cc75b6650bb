const LONGEST = 60;

/** What somebody gave, on one line and not too long: `-1`, `'fast'`, `a list`. For what is not secret. */
export function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value !== 'string') return String(value);
  const cut = value.length > LONGEST ? `${value.slice(0, LONGEST - 3)}...` : value;
  return `'${JSON.stringify(cut).slice(1, -1).replaceAll('\\"', '"')}'`;
}
