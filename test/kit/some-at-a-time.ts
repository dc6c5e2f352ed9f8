/** Does work on all items, a few of them at a time, and returns the results in the order of the items. */
export async function someAtATime<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  count = 8,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next; at < items.length; at = next) {
      next += 1;
      results[at] = await work(items[at] as Item);
    }
  };
  await Promise.all(Array.from({ length: count }, worker));
  return results;
}
