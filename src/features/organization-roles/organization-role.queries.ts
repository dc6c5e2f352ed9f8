import { sql } from 'kysely';
import { anyOf, columnsIn, pageBy, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { KeyBounds } from '../../kernel/paging.js';
import type { OrganizationSchema } from '../organizations/public.js';
import { OrganizationRoleSchema } from '../organizations/public.js';

const tables = tablesOf<typeof OrganizationRoleSchema | typeof OrganizationSchema>();

const roles = tables
  .selectFrom('organization_role as r')
  .select(columnsIn('r', OrganizationRoleSchema, 'permissionsDigest'));

/** An organization, and with `isRoot` also those below it. */
interface Scope {
  readonly organizationId: string;
  readonly isRoot: boolean;
}

const isIn = ({ organizationId, isRoot }: Scope) =>
  sql<boolean>`(o.id = ${organizationId}::uuid or (${isRoot}::boolean and o.parent_id = ${organizationId}::uuid))`;

/** Roles within a scope, by id. */
export const findRoles = prepared((scope: Scope & { ids: readonly string[] }) =>
  roles
    .innerJoin('organization as o', 'o.id', 'r.organization_id')
    .where('r.id', '=', anyOf(scope.ids))
    .where(isIn(scope)),
);

/** A role that an organization made, as it is read. */
export type OrganizationRoleRow = Awaited<ReturnType<typeof findRoles>>[number];

/** Roles of whatever organizations that have one of these slugs. */
export const findRolesNamed = prepared(
  ({ organizationIds, slugs }: { organizationIds: readonly string[]; slugs: readonly string[] }) =>
    roles
      .where('r.organization_id', '=', anyOf(organizationIds))
      .where('r.slug', '=', sql<string>`any(${slugs}::text[])`),
);

/** Roles of an organization, by slug. */
export const listRoles = prepared((page: KeyBounds & { organizationId: string }) =>
  roles.where('r.organization_id', '=', page.organizationId).$call(pageBy('r.slug', page)),
);

/** The organizations of a scope, as old as their built-in roles. */
export const findOrganizations = prepared((scope: Scope) =>
  tables
    .selectFrom('organization as o')
    .select(['o.id', 'o.created_at as createdAt', 'o.updated_at as updatedAt'])
    .where(isIn(scope)),
);
