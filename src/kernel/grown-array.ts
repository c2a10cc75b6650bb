/** The room for columns of `length` that index `needed` fits in: at least double, so that growing is cheap on average. */
export function roomFor(needed: number, length: number): number {
  return Math.max(needed + 1, length * 2, 16);
}

/** A copy of a column with the given room. */
export function grownArray<Column extends Int32Array | Float64Array | Uint8Array>(old: Column, room: number): Column {
  const grown = new (old.constructor as new (length: number) => Column)(room);
  grown.set(old);
  return grown;
}
