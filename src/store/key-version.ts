/** Versions of the keys: when the store was made, a dot, and how many changes there were. */

/** Up to which change somebody knows the keys who knows them up to `since`; null where that is another store's, or to come. */
export function countBetween(since: string, version: string): number | null {
  const [store, count] = since.split('.');
  const [present, presentCount] = version.split('.');
  const [from, to] = [countOf(count), countOf(presentCount)];
  return store === present && from !== null && to !== null && from < to ? from : null;
}

/** Null for what is no count: versions were random once. */
export function countOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
