import 'reflect-metadata';
import { type ClassType, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../context.js';
import { type BatchLoad, batchedOrNull } from '../database/batched.js';

/** A field that leads from objects to others. */
interface Relation<R> {
  readonly type: ClassType;
  readonly description: string;
  resolve(root: R, ctx: Context): Promise<object | null>;
}

/**
 * A field that leads to a resource by its id. It is null where there is no such resource, and null with an error where the caller may
 * not see it; all objects of a response share one load.
 *
 * @param keyOf the id in the object that has the field, or whatever `load` takes for one; null leads nowhere
 * @param show from what was loaded to its type
 */
export const relationTo = <R, T extends object, L extends object = T>(
  type: ClassType<T>,
  description: string,
  load: BatchLoad<L>,
  keyOf: (root: R, ctx: Context) => string | null,
  show: (loaded: L) => T = (loaded) => loaded as unknown as T,
): Relation<R> => ({
  type,
  description,
  resolve: async (root, ctx) => {
    const found = await batchedOrNull(ctx, load, keyOf(root, ctx));
    return found === null ? null : show(found);
  },
});

/** The resolver of such fields: `relations(TokenType, { user: relationTo(UserType, 'The user.', usersByIds, ({ userId }) => userId) })`. */
export function relations<R extends object>(
  owner: abstract new () => R,
  fields: Readonly<Record<string, Relation<R>>>,
): object {
  class Relations {}
  for (const [name, { type, description, resolve }] of Object.entries(fields)) {
    const method = { value: resolve, configurable: true, writable: true };
    Object.defineProperty(Relations.prototype, name, method);
    Root()(Relations.prototype, name, 0);
    Ctx()(Relations.prototype, name, 1);
    FieldResolver(() => type, { nullable: true, description })(Relations.prototype, name, method);
  }
  Resolver(() => owner as unknown as ClassType)(Relations);
  return new Relations();
}
