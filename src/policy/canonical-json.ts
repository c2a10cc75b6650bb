/**
 * A JSON value in the one form that equal values share: keys sorted, no spaces, nothing escaped beyond what JSON needs,
 * numbers as the language prints them.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const map = value as Record<string, unknown>;
  const pairs = Object.keys(map)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(map[key])}`);
  return `{${pairs.join(',')}}`;
}
