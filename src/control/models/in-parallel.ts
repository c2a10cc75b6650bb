/**
 * Processes every item in order, at most `most` at a time. After the first failure nothing new is started; it is thrown when
 * current work has ended.
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
