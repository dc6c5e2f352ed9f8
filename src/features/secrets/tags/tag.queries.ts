import { sql } from 'kysely';
import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { pagePerOwner } from '../../../kernel/database/plans.sql.js';
import { anyOf, columnsOf, pageBy, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { Orderable, OrderedBounds } from '../../../kernel/list-order.js';
import type { CursorKey, KeyBounds } from '../../../kernel/paging.js';
import { type Tag, TagSchema } from './tag.entity.js';

/** A tag as others see it. */
export type TagRow = Pick<Tag, 'id' | 'projectId' | 'slug' | 'color'>;

/** Where a tag is in a list. */
export const bySlug = ({ slug }: TagRow): CursorKey => [slug];

/** A tag of a list, with what that is ordered by. */
export interface ListedTag extends TagRow, Pick<Tag, 'createdAt' | 'updatedAt'> {}

export const toOrderable = (tag: ListedTag): Orderable => ({ ...tag, name: tag.slug });

const tables = tablesOf<typeof TagSchema>();
const listed = tables.selectFrom('tag').select(columnsOf(TagSchema, 'organizationId'));

/** Tags of whatever projects. */
export const findTags = prepared(({ ids }: { ids: readonly string[] }) =>
  tables
    .selectFrom('tag')
    .select(columnsOf(TagSchema, 'organizationId', 'createdAt', 'updatedAt'))
    .where('id', '=', anyOf(ids)),
);

/** A page of the tags of each project that changed since then, by slug. */
export const listTags = prepared((page: KeyBounds & { projectIds: readonly string[]; since: Date | null }) =>
  pagePerOwner(tables, page.projectIds, (projectId) =>
    listed
      .where('project_id', '=', projectId)
      .where(sql<boolean>`(${page.since}::timestamptz is null or updated_at >= ${page.since}::timestamptz)`)
      .$call(pageBy('slug', page)),
  ),
);

const ORDER_COLUMNS = { id: 'id', name: 'slug', createdAt: 'created_at', updatedAt: 'updated_at' };

/** The same in an order, then by id. Only by slug an index has them in order. */
export const listTagsInOrder = inOrders((shape) =>
  prepared((page: OrderedBounds & { projectIds: readonly string[] }) =>
    pagePerOwner(tables, page.projectIds, (projectId) =>
      listed.where('project_id', '=', projectId).$call(pageInOrder(ORDER_COLUMNS, shape, page)),
    ),
  ),
);

/** How many tags projects have. */
export const countTags = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  tables
    .selectFrom('tag')
    .select(['project_id as projectId', sql<number>`count(*)::integer`.as('count')])
    .where('project_id', '=', anyOf(projectIds))
    .groupBy('project_id'),
);
