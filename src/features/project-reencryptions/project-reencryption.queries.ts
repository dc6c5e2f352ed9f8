import { anyOf, pageByNewest, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { TimeBounds } from '../../kernel/paging.js';
import type { ProjectReencryptionSchema } from './project-reencryption.entity.js';

const reencryptions = tablesOf<typeof ProjectReencryptionSchema>()
  .selectFrom('project_reencryption')
  .select([
    'id',
    'organization_id as organizationId',
    'project_id as projectId',
    'state',
    'total_values as totalValues',
    'done_values as doneValues',
    'unreadable_values as unreadableValues',
    'destroyed_keys as destroyedKeys',
    'finished_at as finishedAt',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

/** Re-encryptions by ID, in any project. */
export const findReencryptions = prepared(({ ids }: { readonly ids: readonly string[] }) =>
  reencryptions.where('id', '=', anyOf(ids)),
);

/** A re-encryption as read from the database. */
export type ReencryptionRow = Awaited<ReturnType<typeof findReencryptions>>[number];

/** Re-encryptions of a project, newest first. */
export const listReencryptions = prepared((page: TimeBounds & { readonly projectId: string }) =>
  reencryptions.where('project_id', '=', page.projectId).$call(pageByNewest('created_at', 'id', page)),
);
