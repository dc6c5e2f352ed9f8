import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { ProjectSchema } from './project.entity.js';

const tables = tablesOf<typeof ProjectSchema>();

/**
 * Blocks other changes of a project's row until the commit. Inserts of rows that refer to it do not wait.
 * `now`: the current time of the database.
 */
export const lockProjectRow = prepared(({ id }: { id: string }) =>
  tables
    .selectFrom('project')
    .select([
      'id',
      'organization_id as organizationId',
      'kms_secret_manager_key_id as keyId',
      sql<Date>`now()`.as('now'),
    ])
    .where('id', '=', id)
    .forNoKeyUpdate(),
);

/** How many projects of each type a member has. In the form of the list. */
export const countProjectsByType = prepared(
  ({ memberId, organizationId }: { memberId: string; organizationId: string }) =>
    tables
      .selectFrom('project')
      .select(['type', sql<number>`count(*)::integer`.as('count')])
      .where('organization_id', '=', organizationId)
      .where('id', 'in', (query) =>
        query
          .selectFrom(sql<{ project_id: string; member_id: string }>`project_member_now`.as('n'))
          .select('n.project_id')
          .where('n.member_id', '=', memberId)
          .where(sql<boolean>`cardinality(n.roles) > 0`),
      )
      .groupBy('type'),
);
