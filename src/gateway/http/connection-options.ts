/** What a `connection` header says of the connection itself. */
export const CLOSES = 1;
export const PERSISTS = 2;

/** `CLOSES`, `PERSISTS`, both or neither. */
export function connectionOptions(value: string): number {
  if (value === 'keep-alive') return PERSISTS;
  if (value === 'close') return CLOSES;
  let options = 0;
  for (const part of value.split(',')) {
    const one = part.trim().toLowerCase();
    if (one === 'close') options |= CLOSES;
    else if (one === 'keep-alive') options |= PERSISTS;
  }
  return options;
}
