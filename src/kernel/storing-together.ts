import { failedOnData } from './errors.js';

/** What became of one of many. */
type Settle<T> = (item: T, result: PromiseSettledResult<void>) => void;

/**
 * Stores many by one statement. Where it fails on what one of them brings, halves are stored apart, down to each alone, so that only
 * that one fails. A failure of anything else, of the connection say, is that of all.
 *
 * @param store stores all that it is given, or none
 * @param settle called once for each, as soon as it is known
 */
export async function storeTogether<T>(
  items: readonly T[],
  store: (some: readonly T[]) => Promise<void>,
  settle: Settle<T>,
): Promise<void> {
  const [result] = await Promise.allSettled([store(items)]);
  if (result.status === 'rejected' && items.length > 1 && failedOnData(result.reason)) {
    const half = Math.ceil(items.length / 2);
    await storeTogether(items.slice(0, half), store, settle);
    await storeTogether(items.slice(half), store, settle);
  } else for (const item of items) settle(item, result);
}
