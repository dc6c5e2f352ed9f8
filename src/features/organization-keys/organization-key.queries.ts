import { sql } from 'kysely';
import type { OrganizationKeySchema } from '../../kernel/crypto/organization-key.entity.js';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { ProjectSchema } from '../projects/public.js';

const tables = tablesOf<typeof OrganizationKeySchema | typeof ProjectSchema>();

const keys = tables
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

/** Holds a project and answers the key that it has: nobody else changes it until the transaction ends. */
export const holdKeyOfProject = prepared(({ projectId }: { projectId: string }) =>
  tables
    .selectFrom('project')
    .select('kms_secret_manager_key_id as keyId')
    .where('id', '=', projectId)
    .forNoKeyUpdate(),
);

/** Stores the key of a project. */
export const storeKeyOfProject = prepared(({ projectId, keyId }: { projectId: string; keyId: string }) =>
  tables
    .updateTable('project')
    .set({ kms_secret_manager_key_id: keyId, updated_at: sql`now()` })
    .where('id', '=', projectId),
);

/** Makes a new revision of the projects of a key, so that no response of before is repeated. */
export const raiseRevisions = prepared(({ id }: { id: string }) =>
  tables.updateTable('project').set({ revision: sql`revision + 1` }).where('kms_secret_manager_key_id', '=', id),
);
