import { sql } from 'kysely';
import { prepared, tablesOf } from '../../kernel/database/tables.js';
import type { Tag, TagSchema } from './tag.entity.js';

const tables = tablesOf<typeof TagSchema>();
/** A tag as others see it. */
export type TagRow = Pick<Tag, 'id' | 'slug' | 'color'>;

const COLUMNS = ['id', 'slug', 'color'] as const;
/** Slugs are in the order of their bytes, whatever language the database speaks. */
const BY_SLUG = sql`slug collate "C"`;

export const findTag = prepared(({ projectId, id }: { projectId: string; id: string }) =>
  tables.selectFrom('tag').select(COLUMNS).where('project_id', '=', projectId).where('id', '=', id),
);

export const findTagBySlug = prepared(({ projectId, slug }: { projectId: string; slug: string }) =>
  tables.selectFrom('tag').select(COLUMNS).where('project_id', '=', projectId).where('slug', '=', slug),
);

export const findTags = prepared(({ projectId, ids }: { projectId: string; ids: readonly string[] }) =>
  tables
    .selectFrom('tag')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`),
);

/** Tags of whatever projects, with these. */
export const findTagsByIds = prepared(({ ids }: { ids: readonly string[] }) =>
  tables
    .selectFrom('tag')
    .select([...COLUMNS, 'project_id as projectId'])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`),
);

interface TagPage {
  readonly projectId: string;
  /** The slug that the page begins after; null: at the top. */
  readonly after: string | null;
  readonly limit: number | null;
}

/** Tags of a project, by slug. */
export const listTags = prepared(({ projectId, after, limit }: TagPage) =>
  tables
    .selectFrom('tag')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where(sql<boolean>`(${after}::text is null or slug collate "C" > ${after}::text)`)
    .orderBy(BY_SLUG)
    .limit(limit),
);

/** All tags of many projects, by slug. */
export const listTagsOfProjects = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  tables
    .selectFrom('tag')
    .select([...COLUMNS, 'project_id as projectId'])
    .where('project_id', '=', sql<string>`any(${projectIds}::uuid[])`)
    .orderBy(BY_SLUG),
);
