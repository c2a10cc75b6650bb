/**
 * Moves the values of a column to where their replicas stand now: slot i gets what slot from[i] had, or `empty` where that
 * is -1. Slots beyond the fleet become empty. For the rare moment when replicas join, leave or change places.
 */
export function rearrange(column: Int32Array | Float64Array, from: Int32Array, empty = 0): void {
  const before = column.slice();
  column.fill(empty);
  for (let i = 0; i < from.length; i++) if (from[i]! >= 0) column[i] = before[from[i]!]!;
}

/** Where the replicas of a changed fleet stood before: for each its old slot, -1 for those that were not there. */
export function formerSlots(before: readonly string[], now: readonly string[]): Int32Array {
  const slots = new Map(before.map((id, slot) => [id, slot]));
  return Int32Array.from(now, (id) => slots.get(id) ?? -1);
}
