import type { GraphQLFieldResolver, GraphQLObjectType } from 'graphql';
import { Args, type ClassType, Ctx, Extensions, FieldResolver, Mutation, Query, Root } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../context.js';
import {
  argsType,
  Input,
  inputOf,
  type ObjectTypes,
  type PayloadFields,
  type PayloadOf,
  payloadOf,
  type ValueOf,
} from './inputs.js';
import './list-order.js';
import { PageArgs } from './page.js';

/** Puts a method of a resolver into the schema, under its name: it gets the context and the input, and returns the result. */
export type OperationOf<Given, Result> = <M extends (ctx: Context, given: Given) => Promise<Result>>(
  resolver: object,
  name: string,
  method: TypedPropertyDescriptor<M>,
) => void;

/** Which method answers a root field, and which of its arguments it gets: all of them, or `input`. */
interface AnsweredBy {
  readonly resolver: object;
  readonly method: string;
  readonly argument?: string;
}

/**
 * Root fields of `query` and `mutation` call their methods with the arguments as they were sent, which our rules read. type-graphql would
 * make an instance of a class of each input, and search all input types for each field of each: a twentieth of the time of a batch.
 *
 * @param resolvers instances by their classes
 */
export function answerDirectly(root: GraphQLObjectType, resolvers: ReadonlyMap<unknown, object>): void {
  for (const field of Object.values(root.getFields())) {
    const answeredBy = field.extensions.answeredBy as AnsweredBy | undefined;
    if (answeredBy === undefined) continue;
    const { resolver, method, argument } = answeredBy;
    const instance = resolvers.get(resolver) as Record<string, (ctx: unknown, given: unknown) => unknown>;
    const answer = (instance[method] as (typeof instance)[string]).bind(instance);
    const resolve: GraphQLFieldResolver<unknown, unknown> = (_source, args, ctx) =>
      answer(ctx, argument === undefined ? args : args[argument]);
    field.resolve = resolve;
  }
}

/**
 * A query: `@query(TagType, OneTag, 'One tag by its id.') tag(ctx: Context, args: object)`.
 *
 * @param rules of its arguments, which come from them
 */
export const query =
  <R extends z.ZodObject, const T extends ObjectTypes>(
    type: T,
    rules: R,
    description: string,
  ): OperationOf<z.input<R>, ValueOf<T>> =>
  (resolver, name, method) => {
    const args = argsType(rules);
    Ctx()(resolver, name, 0);
    Args(() => args)(resolver, name, 1);
    Extensions({ answeredBy: { resolver: resolver.constructor, method: name } satisfies AnsweredBy })(resolver, name);
    Query(() => type as ClassType | [ClassType], { description })(resolver, name, method);
  };

/** What a mutation with this payload returns. */
type Returned<P> = P extends PayloadFields ? PayloadOf<P> : ValueOf<P>;

/**
 * A mutation with one `input` and a payload: `@mutation(CreateTag, { tag: [TagType, 'The created tag.'] }, 'Adds a tag.')` before the
 * method `createTag` makes `CreateTagInput` and `CreateTagPayload`.
 *
 * @param input its rules, whose description is that of the argument; or the type that it shares with another mutation
 * @param payload what it returns, with its type and its description: `[TagType]` for a list; or a type that says more
 */
export const mutation =
  <R extends z.ZodObject, const P extends PayloadFields | ClassType>(
    input: R | ClassType<z.input<R>>,
    payload: P,
    description: string,
  ): OperationOf<z.input<R>, Returned<P>> =>
  (resolver, name, method) => {
    const given = input instanceof z.ZodObject ? inputOf(name, input) : input;
    const returned = typeof payload === 'function' ? payload : payloadOf(name, payload);
    Ctx()(resolver, name, 0);
    Input(given)(resolver, name, 1);
    const answeredBy: AnsweredBy = { resolver: resolver.constructor, method: name, argument: 'input' };
    Extensions({ answeredBy })(resolver, name);
    Mutation(() => returned, { description })(resolver, name, method);
  };

/** The same for a field of an object. A third parameter gets its arguments: the page that is asked for. */
type FieldOf<Result> = <M extends (root: never, ctx: Context, page: object) => Promise<Result>>(
  resolver: object,
  name: string,
  method: TypedPropertyDescriptor<M>,
) => void;

/**
 * A field of an object that leads to others, null where the caller is denied them:
 * `@nested([TagType], 'Its tags.') tags(project: ProjectType, ctx: Context)`.
 *
 * @param args what a third parameter gets
 */
export const nested =
  <const T extends ObjectTypes>(type: T, description: string, args: ClassType = PageArgs): FieldOf<ValueOf<T> | null> =>
  (resolver, name, method) => {
    Root()(resolver, name, 0);
    Ctx()(resolver, name, 1);
    if (method.value?.length === 3) Args(() => args)(resolver, name, 2);
    FieldResolver(() => type, { nullable: true, description })(resolver, name, method);
  };
