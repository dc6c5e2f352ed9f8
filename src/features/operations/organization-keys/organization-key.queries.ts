import { sql } from 'kysely';
import { OrganizationKeySchema } from '../../../kernel/crypto/keys.entity.js';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { ProjectSchema } from '../../projects/public.js';

const tables = tablesOf<typeof OrganizationKeySchema | typeof ProjectSchema>();

const keys = tables.selectFrom('organization_key').select(columnsOf(OrganizationKeySchema));

export const findKeys = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  keys.where('organization_id', '=', organizationId).where('id', '=', anyOf(ids)),
);

/** A key as read from the database. */
export type OrganizationKeyRow = Awaited<ReturnType<typeof findKeys>>[number];

/** All keys of an organization, by name. */
export const listKeys = prepared(({ organizationId }: { organizationId: string }) =>
  keys.where('organization_id', '=', organizationId).orderBy(sql`name collate "C"`),
);

/** Makes a new revision of the projects of a key, so that no response of before is repeated. */
export const raiseRevisions = prepared(({ id }: { id: string }) =>
  tables.updateTable('project').set({ revision: sql`revision + 1` }).where('kms_secret_manager_key_id', '=', id),
);
