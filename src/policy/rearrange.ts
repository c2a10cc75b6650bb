/**
 * Moves the values of a column to the new slots of their replicas: slot i gets the value of slot from[i], or `empty` where that is
 * -1. Slots beyond the fleet become empty. Runs only when replicas join, leave or move.
 */
export function rearrange(column: Int32Array | Float64Array, from: Int32Array, empty = 0): void {
  const before = column.slice();
  column.fill(empty);
  for (let i = 0; i < from.length; i++) if (from[i]! >= 0) column[i] = before[from[i]!]!;
}

/** The former slots of the replicas of a changed fleet, -1 for new ones. */
export function formerSlots(before: readonly string[], now: readonly string[]): Int32Array {
  const slots = new Map(before.map((id, slot) => [id, slot]));
  return Int32Array.from(now, (id) => slots.get(id) ?? -1);
}
