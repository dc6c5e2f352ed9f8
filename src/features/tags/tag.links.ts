import { authorize } from '../../kernel/authz/ability.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import type { ProjectLinks } from '../projects/public.js';
import { findTagsByIds } from './tag.queries.js';
import { type TagType, toTagType } from './tag.type.js';

/** Tags by id, as far as the caller may read them. */
export const tagsByIds =
  (projects: ProjectLinks): BatchLoad<TagType & { readonly projectId: string }> =>
  async (ctx, ids) => {
    const rows = await findTagsByIds(ctx, { ids });
    return projects.readable(ctx, rows, (row, access) => {
      authorize(access, 'tags:read');
      return { ...toTagType(row), projectId: row.projectId };
    });
  };
