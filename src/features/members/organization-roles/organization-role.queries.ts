import { columnsOf, pageBy, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { KeyBounds } from '../../../kernel/paging.js';
import { OrganizationRoleSchema } from '../../identity/organizations/public.js';

/** Roles of an organization, by slug. */
export const listRoles = prepared((page: KeyBounds & { organizationId: string }) =>
  tablesOf<typeof OrganizationRoleSchema>()
    .selectFrom('organization_role')
    .select(columnsOf(OrganizationRoleSchema, 'permissionsDigest'))
    .where('organization_id', '=', page.organizationId)
    .$call(pageBy('slug', page)),
);
