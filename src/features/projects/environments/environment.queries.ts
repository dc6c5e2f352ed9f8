import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { EnvironmentSchema } from './environment.entity.js';

const tables = tablesOf<typeof EnvironmentSchema>();
const environments = tables
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

export const findEnvironment = prepared(({ projectId, id }: { projectId: string; id: string }) =>
  environments.where('project_id', '=', projectId).where('id', '=', id),
);

export const findEnvironmentBySlug = prepared(({ projectId, slug }: { projectId: string; slug: string }) =>
  environments.where('project_id', '=', projectId).where('slug', '=', slug),
);

/** Environments of whatever projects, in no order. The project decides who may see them. */
export const findEnvironments = prepared(({ ids }: { ids: readonly string[] }) =>
  environments.where('id', '=', anyOf(ids)),
);

/** How many environments a project has. */
export const countEnvironments = prepared(({ projectId }: { projectId: string }) =>
  tables
    .selectFrom('environment')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('project_id', '=', projectId),
);

/** Moves the environments at positions from `from` to `to`. */
export const shiftPositions = prepared(
  ({ projectId, from, to, by }: { projectId: string; from: number; to: number; by: number }) =>
    tables
      .updateTable('environment')
      .set({ position: sql`position + ${by}` })
      .where('project_id', '=', projectId)
      .where((row) => row.between('position', from, to)),
);
