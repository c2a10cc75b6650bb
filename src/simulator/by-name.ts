/** Sorts entries of a document by name, bytewise: the same in every locale. */
export function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}
