/** Deeper than any request means to be, and far from where walking through one would exhaust the stack. */
const MOST_LEVELS = 500;

/** Whether a JSON value is nested deeper than anybody should follow. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isTooDeep(inner, levels - 1)) return true;
  return false;
}
