import DataLoader from 'dataloader';
import type { Context } from '../context.js';

/** Loads many keys at once: a map from key to value; a key that is not in the map has no value. */
export type BatchLoad<T> = (ctx: Context, keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/**
 * One value of a batch: all calls of the same request in the same turn of the event loop share one `load`.
 *
 * @param load a function that lives as long as the program (it names the batch)
 */
export function batched<T>(ctx: Context, load: BatchLoad<T>, key: string): Promise<T | undefined> {
  let loader = ctx.loaders.get(load);
  if (loader === undefined) {
    loader = new DataLoader<string, unknown>(async (keys) => {
      const found = await load(ctx, keys);
      return keys.map((wanted) => found.get(wanted));
    });
    ctx.loaders.set(load, loader);
  }
  return loader.load(key) as Promise<T | undefined>;
}
