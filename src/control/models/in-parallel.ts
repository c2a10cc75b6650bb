/**
 * Does the work for every item, at most `most` at a time and in their order. The first failure ends it: nothing new is begun,
 * what is under way is waited for, and then it is thrown.
 */
export async function inParallel<Item>(
  items: readonly Item[],
  most: number,
  work: (item: Item, i: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const i = next++;
      try {
        await work(items[i]!, i);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
