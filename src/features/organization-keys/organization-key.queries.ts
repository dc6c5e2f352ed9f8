import { sql } from 'kysely';
import type { OrganizationKeySchema } from '../../kernel/crypto/organization-key.entity.js';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';

const keys = tablesOf<typeof OrganizationKeySchema>()
  .selectFrom('organization_key')
  .select([
    'id',
    'organization_id as organizationId',
    'name',
    'description',
    'is_default as isDefault',
    'version',
    'disabled_at as disabledAt',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

export const findKeys = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  keys.where('organization_id', '=', organizationId).where('id', '=', anyOf(ids)),
);

/** A key as read from the database. */
export type OrganizationKeyRow = Awaited<ReturnType<typeof findKeys>>[number];

/** All keys of an organization, by name. */
export const listKeys = prepared(({ organizationId }: { organizationId: string }) =>
  keys.where('organization_id', '=', organizationId).orderBy(sql`name collate "C"`),
);
