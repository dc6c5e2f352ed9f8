import DataLoader from 'dataloader';
import type { Context } from '../context.js';

/** Loads many keys at once: a map from key to value; a key that is not in the map has no value. */
export type BatchLoad<T> = (ctx: Context, keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/** Loads the lists of many owners that are asked for with the same options. */
export type ListLoad<R, O> = (ctx: Context, ownerIds: readonly string[], options: O) => Promise<readonly R[]>;

/**
 * A `BatchLoad` of lists, one statement for each different set of options in the document, whatever the number of owners.
 * Its keys are made by `listKey`.
 *
 * @param ownerOf id of the owner of a row, in the form in which the keys have it
 */
export function batchOfLists<R, O>(load: ListLoad<R, O>, ownerOf: (row: R) => string): BatchLoad<readonly R[]> {
  return async (ctx, keys) => {
    const byOptions = Map.groupBy(keys, (key) => key.slice(ID_LENGTH));
    const lists = await Promise.all(
      [...byOptions].map(async ([text, group]) => {
        const ownerIds = group.map((key) => key.slice(0, ID_LENGTH));
        const rows = await load(ctx, ownerIds, JSON.parse(text) as O);
        return [...Map.groupBy(rows, (row) => ownerOf(row) + text)];
      }),
    );
    return new Map(lists.flat());
  };
}

const ID_LENGTH = 36;

/** Key of one list in a `batchOfLists`. @param options scalars and lists of them, whose text is their identity */
export const listKey = <O extends object>(ownerId: string, options: O): string => ownerId + JSON.stringify(options);

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
