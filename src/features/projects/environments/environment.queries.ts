import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { EnvironmentSchema } from './environment.entity.js';

const environments = tablesOf<typeof EnvironmentSchema>()
  .selectFrom('environment')
  .select([
    'id',
    'project_id as projectId',
    'name',
    'slug',
    'position',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

export const findEnvironmentBySlug = prepared(({ projectId, slug }: { projectId: string; slug: string }) =>
  environments.where('project_id', '=', projectId).where('slug', '=', slug),
);

/** Environments of whatever projects, in no order. The project decides who may see them. */
export const findEnvironments = prepared(({ ids }: { ids: readonly string[] }) =>
  environments.where('id', '=', anyOf(ids)),
);
