import type { ClassType } from 'type-graphql';
import { Field, Int, ObjectType } from 'type-graphql';
import { z } from 'zod';
import {
  boundedPageRules,
  type ConnectionOf,
  type CountedConnectionOf,
  type PageInfo,
  pageRules,
  type SoughtConnectionOf,
} from '../paging.js';
import { argsType } from './inputs.js';

/** Arguments of every list. */
export const PageArgs = argsType(z.strictObject(pageRules));
export type PageArgs = InstanceType<typeof PageArgs>;

/** Arguments of lists that are never whole. */
export const BoundedPageArgs = argsType(z.strictObject(boundedPageRules));
export type BoundedPageArgs = InstanceType<typeof BoundedPageArgs>;

/** Where a list goes on. */
@ObjectType('PageInfo', { description: 'Where a list goes on.' })
class PageInfoType {
  @Field(() => Boolean, { description: 'There are rows after these.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'There are rows before these: `after` was given.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first row; null for an empty page.' })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last row: the next `after`.' })
  endCursor!: string | null;
}

/**
 * Makes the connection type of a node type: `connectionOf(ProjectType, 'Project')` is `ProjectConnection`.
 *
 * @param order how the rows are ordered, for the description
 */
export function connectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
): ClassType<ConnectionOf<T>> {
  @ObjectType(`${name}Edge`, { description: 'A row of the list and its cursor.' })
  class Edge {
    @Field(() => String, { description: 'Position of the row, for `after`.' })
    cursor!: string;

    @Field(() => node, { description: 'The row.' })
    node!: T;
  }

  @ObjectType(`${name}Connection`, { description: `A list of ${name}, ordered by ${order}.`, simpleResolvers: true })
  class Connection {
    @Field(() => [node], { description: 'The rows.' })
    nodes!: T[];

    @Field(() => [Edge], { description: 'The rows with their cursors.' })
    edges!: Edge[];

    @Field(() => PageInfoType, { description: 'Where the list goes on.' })
    pageInfo!: PageInfo;
  }
  return Connection;
}

/** As `connectionOf`, for lists that tell how many rows they have in all. */
export function countedConnectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
): ClassType<CountedConnectionOf<T>> {
  @ObjectType(`${name}Connection`, { description: `A list of ${name}, ordered by ${order}.`, simpleResolvers: true })
  class CountedConnection extends connectionOf(node, name, order) {
    @Field(() => Int, {
      description: 'How many rows there are in all, on whatever page. Counted only if you ask for it.',
    })
    totalCount!: () => Promise<number>;
  }
  return CountedConnection;
}

/** As `connectionOf`, for lists whose rows are looked for among others. */
export function soughtConnectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
): ClassType<SoughtConnectionOf<T>> {
  @ObjectType(`${name}Connection`, { description: `A list of ${name}, ordered by ${order}.`, simpleResolvers: true })
  class SoughtConnection extends connectionOf(node, name, order) {
    @Field(() => Boolean, {
      description:
        'So many rows had to be looked at that the search ended before the page was full. Ask again after ' +
        '`pageInfo.endCursor` for more.',
    })
    scanLimitReached!: boolean;
  }
  return SoughtConnection;
}
