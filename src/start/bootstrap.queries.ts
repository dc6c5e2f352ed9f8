import { sql } from 'kysely';
import type { OrganizationSchema } from '../features/identity/organizations/public.js';
import { prepared, tablesOf } from '../kernel/database/tables.js';

/**
 * A root organization by its slug, any one by its ID, or, for null, the oldest root organization, which has the admin of the
 * installation. None: the database is empty.
 */
export const findOrganizationNamed = prepared(({ name }: { name: string | null }) =>
  tablesOf<typeof OrganizationSchema>()
    .selectFrom('organization')
    .select(['id', 'slug', sql<boolean>`${name}::text is null`.as('isInstallation')])
    .where(
      sql<boolean>`case when ${name}::text is null then parent_id is null
        else id::text = lower(${name}::text) or (parent_id is null and slug = ${name}::text) end`,
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(sql.lit(1)),
);
