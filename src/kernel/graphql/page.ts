import type { ClassType } from 'type-graphql';
import { Int } from 'type-graphql';
import * as z from 'zod';
import {
  boundedPageRules,
  type ConnectionOf,
  type CountedConnectionOf,
  pageRules,
  type SearchConnectionOf,
} from '../paging.js';
import { argsType } from './inputs.js';
import { objectType, orNull, typedAs } from './object-types.js';

/** Arguments of every list. */
export const PageArgs = argsType(z.strictObject(pageRules));
export type PageArgs = InstanceType<typeof PageArgs>;

/** Arguments of lists that always have pages. */
export const BoundedPageArgs = argsType(z.strictObject(boundedPageRules));
export type BoundedPageArgs = InstanceType<typeof BoundedPageArgs>;

const PageInfoType = objectType('PageInfo', 'Position of a page in its list.', {
  hasNextPage: [Boolean, 'Whether there are items after this page.'],
  hasPreviousPage: [Boolean, 'Whether there are items before this page: true if you passed `after`.'],
  startCursor: [orNull(String), 'Cursor of the first item. Null if the page is empty.'],
  endCursor: [
    orNull(String),
    'Cursor of the last item. Pass it as `after` to get the next page. Null if the page is empty.',
  ],
});

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
): ClassType<CountedConnectionOf<T>> {
  const totalCount = [
    typedAs<() => Promise<number>>(Int),
    'Total number of items on all pages. Counted only if you select this field.',
  ] as const;
  return objectType(
    `${name}Connection`,
    listOf(noun, order),
    { totalCount },
    { extends: uncountedConnectionOf(node, name, order, noun) },
  );
}

/** As `connectionOf`, without a total. */
function uncountedConnectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
  noun = nounOf(name),
): ClassType<ConnectionOf<T>> {
  const items = pluralOf(noun);
  const edge = objectType(`${name}Edge`, 'An item of a list, with its cursor.', {
    cursor: [String, 'Cursor of this item. Pass it as `after` to continue from here.'],
    node: [node, `The ${noun}.`],
  });
  return objectType(`${name}Connection`, listOf(noun, order), {
    nodes: [[node], `The ${items} on this page.`],
    edges: [[edge], `The ${items} on this page, each with its cursor.`],
    pageInfo: [PageInfoType, 'Position of the page in the list.'],
  }) as ClassType<ConnectionOf<T>>;
}

/**
 * As `connectionOf`, for searches, which look at a limited number of candidates for each page: to count what they find would be to look at
 * all candidates.
 */
export function searchConnectionOf<T extends object>(
  node: ClassType<T>,
  name: string,
  order: string,
  noun = nounOf(name),
): ClassType<SearchConnectionOf<T>> {
  const isScanLimitReached = [
    Boolean,
    'Whether the search reached its scan limit before the page was full. To continue, pass `pageInfo.endCursor` as `after`.',
  ] as const;
  return objectType(
    `${name}Connection`,
    listOf(noun, order),
    { isScanLimitReached },
    { extends: uncountedConnectionOf(node, name, order, noun) },
  );
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
