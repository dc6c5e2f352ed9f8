import type { ClassType } from 'type-graphql';
import { Field, Int, ObjectType } from 'type-graphql';
import * as z from 'zod';
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

/** Arguments of lists that always have pages. */
export const BoundedPageArgs = argsType(z.strictObject(boundedPageRules));
export type BoundedPageArgs = InstanceType<typeof BoundedPageArgs>;

/** Position of a page in its list. */
@ObjectType('PageInfo', { description: 'Position of a page in its list.', simpleResolvers: true })
class PageInfoType {
  @Field(() => Boolean, { description: 'Whether there are items after this page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether there are items before this page: true if you passed `after`.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first item. Null if the page is empty.' })
  startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the last item. Pass it as `after` to get the next page. Null if the page is empty.',
  })
  endCursor!: string | null;
}

/**
 * Makes the connection type of a node type: `connectionOf(ProjectType, 'Project')` is `ProjectConnection`.
 *
 * @param order how the items are ordered, for the description: `name, then ID`
 * @param noun what an item is called in descriptions
 */
export function connectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
  noun = nounOf(name),
): ClassType<ConnectionOf<T>> {
  const items = pluralOf(noun);
  @ObjectType(`${name}Edge`, { description: 'An item of a list, with its cursor.', simpleResolvers: true })
  class Edge {
    @Field(() => String, { description: 'Cursor of this item. Pass it as `after` to continue from here.' })
    cursor!: string;

    @Field(() => node, { description: `The ${noun}.` })
    node!: T;
  }

  @ObjectType(`${name}Connection`, { description: listOf(noun, order), simpleResolvers: true })
  class Connection {
    @Field(() => [node], { description: `The ${items} on this page.` })
    nodes!: T[];

    @Field(() => [Edge], { description: `The ${items} on this page, each with its cursor.` })
    edges!: Edge[];

    @Field(() => PageInfoType, { description: 'Position of the page in the list.' })
    pageInfo!: PageInfo;
  }
  return Connection;
}

/** As `connectionOf`, for lists that count their items. */
export function countedConnectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
  noun = nounOf(name),
): ClassType<CountedConnectionOf<T>> {
  @ObjectType(`${name}Connection`, { description: listOf(noun, order), simpleResolvers: true })
  class CountedConnection extends connectionOf(node, name, order, noun) {
    @Field(() => Int, {
      description: 'Total number of items on all pages. Counted only if you select this field.',
    })
    totalCount!: () => Promise<number>;
  }
  return CountedConnection;
}

/** As `connectionOf`, for searches, which look at a limited number of candidates for each page. */
export function soughtConnectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
  noun = nounOf(name),
): ClassType<SoughtConnectionOf<T>> {
  @ObjectType(`${name}Connection`, { description: listOf(noun, order), simpleResolvers: true })
  class SoughtConnection extends connectionOf(node, name, order, noun) {
    @Field(() => Boolean, {
      description:
        'Whether the search reached its scan limit before the page was full. To continue, pass `pageInfo.endCursor` ' +
        'as `after`.',
    })
    scanLimitReached!: boolean;
  }
  return SoughtConnection;
}

/** `CertificateAuthority` -> `certificate authority`. */
const nounOf = (name: string): string => name.replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

/** `certificate authority` -> `certificate authorities`, `project without admin` -> `projects without admin`. */
const pluralOf = (noun: string): string =>
  noun.replace(/\w+(?= without |$)/, (word) =>
    word
      .replace(/(?<=[^aeiou])y$/, 'ie')
      .replace(/(?<=ch|s)$/, 'e')
      .concat('s'),
  );

const listOf = (noun: string, order: string): string => `A page of ${pluralOf(noun)}. Order: ${order}.`;
