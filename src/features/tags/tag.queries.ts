import type { z } from 'zod';
import { anyOf, pageBy, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { CursorKey, KeyBounds } from '../../kernel/paging.js';
import type { Tag, TagSchema } from './tag.entity.js';
import type { TagBySlug } from './tag.rules.js';

/** A tag as others see it. */
export type TagRow = Pick<Tag, 'id' | 'projectId' | 'slug' | 'color'>;

/** Where a tag is in a list. */
export const bySlug = ({ slug }: TagRow): CursorKey => [slug];

const tags = tablesOf<typeof TagSchema>().selectFrom('tag').select(['id', 'slug', 'color', 'project_id as projectId']);

export const findTagBySlug = prepared(({ projectId, slug }: z.output<typeof TagBySlug>) =>
  tags.where('project_id', '=', projectId).where('slug', '=', slug),
);

/** Tags of whatever projects. */
export const findTags = prepared(({ ids }: { ids: readonly string[] }) => tags.where('id', '=', anyOf(ids)));

/** Tags of projects, by slug. */
export const listTags = prepared((page: KeyBounds & { projectIds: readonly string[] }) =>
  tags.where('project_id', '=', anyOf(page.projectIds)).$call(pageBy('slug', page)),
);
