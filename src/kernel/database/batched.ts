import type { EntityKey, EntityName, FilterQuery } from '@mikro-orm/core';
import DataLoader from 'dataloader';
import type { Context } from '../context.js';
import { emOf } from './database.js';

/** Loads many keys at once: a map from key to value; a key that is not in the map has no value. An Error fails its key alone. */
export type BatchLoad<T> = (ctx: Context, keys: readonly string[]) => Promise<Found<T>>;

/** Values by key, and an Error in the place of one that the caller is denied. */
export type Found<T> = ReadonlyMap<string, T | Error>;

/** The same with other values; errors stay. */
export const mapFound = <T, U>(found: Found<T>, change: (value: T) => U): Found<U> =>
  new Map([...found].map(([key, value]) => [key, value instanceof Error ? value : change(value)]));

/** The same without values that are null: their keys have no value. */
export const withoutNulls = <T>(found: Found<T | null>): Found<T> =>
  new Map([...found].flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])));

/** A `BatchLoad` of rows by their ids. */
export const batchById =
  <R extends { readonly id: string }>(
    find: (ctx: Context, wanted: { readonly ids: readonly string[] }) => Promise<readonly R[]>,
  ): BatchLoad<R> =>
  async (ctx, ids) =>
    new Map((await find(ctx, { ids })).map((row) => [row.id, row]));

/** A `BatchLoad` of the lists of many owners. @param ownerOf id of the owner of a row */
export const batchOfOwned =
  <R>(load: (ctx: Context, ownerIds: readonly string[]) => Promise<readonly R[]>, ownerOf: (row: R) => string) =>
  async (ctx: Context, ownerIds: readonly string[]): Promise<Found<readonly R[]>> =>
    Map.groupBy(await load(ctx, ownerIds), ownerOf);

/** A `BatchLoad` of how many rows many owners have; one without rows has no value. @param where which rows count */
export const batchOfCounts =
  <T extends object>(
    entity: EntityName<T>,
    owner: EntityKey<T>,
    where: FilterQuery<NoInfer<T>> = {},
  ): BatchLoad<number> =>
  async (ctx, ownerIds) => {
    const owned = { $and: [where, { [owner]: { $in: [...ownerIds] } }] } as FilterQuery<T>;
    return new Map(Object.entries(await emOf(ctx).countBy(entity, owner, { where: owned })));
  };

/** Loads the lists of many owners that are asked for with the same options. */
type ListLoad<R, O> = (ctx: Context, ownerIds: readonly string[], options: O) => Promise<readonly R[]>;

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
export async function batched<T>(ctx: Context, load: BatchLoad<T>, key: string): Promise<T | undefined> {
  const value = (await batchOf(ctx, load).load(key)) as T | undefined;
  if (Array.isArray(value)) await ctx.load?.work.countListed(value.length);
  return value;
}

const batchOf = <T>(ctx: Context, load: BatchLoad<T>) =>
  loaderOf<string, T | Error | undefined>(
    ctx,
    load,
    async (keys) => {
      const found = await load(ctx, keys);
      return keys.map((wanted) => found.get(wanted));
    },
    true,
    // An Error rejects: DataLoader returns none as a value.
  );

/** Has `batched` find what is there already, unless it has asked for it. @param load as there */
export function primeBatch<T>(ctx: Context, load: BatchLoad<T>, key: string, value: T): void {
  batchOf(ctx, load).prime(key, value);
}

/** What an answer leads to by an id: null when there is no id, or nothing for this caller. */
export const batchedOrNull = async <T>(ctx: Context, load: BatchLoad<T>, id: string | null): Promise<T | null> =>
  id === null ? null : ((await batched(ctx, load, id)) ?? null);

/** Work that is done for many at once: what it makes of each of them, in their order. */
export type SharedRun<S, T> = (ctx: Context, subjects: readonly S[]) => Promise<readonly T[]>;

/**
 * Does work for one of many: all calls of the same request in the same turn of the event loop share one run. For what takes more
 * than the id of a thing, or writes: nothing is remembered.
 *
 * @param work a function that lives as long as the program (it names the batch); what it throws, all of them get
 */
export const runTogether = <S, T>(ctx: Context, work: SharedRun<S, T>, subject: S): Promise<T> =>
  loaderOf<S, T>(ctx, work, (subjects) => work(ctx, subjects), false).load(subject);

function loaderOf<S, T>(
  ctx: Context,
  name: object,
  run: (subjects: readonly S[]) => Promise<readonly T[]>,
  cache: boolean,
): DataLoader<S, T> {
  let loader = ctx.loaders.get(name);
  if (loader === undefined) {
    const { work } = ctx.load ?? {};
    // Nobody waits for what would be loaded.
    const load = async (subjects: readonly S[]): Promise<readonly T[]> => {
      work?.refuseLate();
      return run(subjects);
    };
    loader = new DataLoader<S, T>(load, { cache }) as DataLoader<unknown, unknown>;
    ctx.loaders.set(name, loader);
  }
  return loader as DataLoader<S, T>;
}
