import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { OrganizationMembershipSchema } from './membership.entity.js';
import type { OrganizationSchema } from './organization.entity.js';

const tables = tablesOf<typeof OrganizationSchema | typeof OrganizationMembershipSchema>();

/**
 * Everybody who may take an admin away holds this lock first: two admins that demote each other at the same moment would both still
 * see the other one. In the order of ids, so that two callers cannot wait for each other. Not `for update`: that would wait for
 * everybody who adds a row to the organization.
 */
const locked = tables.selectFrom('organization as o').select('o.id').orderBy('o.id').forNoKeyUpdate();

const memberships = tables.selectFrom('organization_membership as m').select('m.organization_id');
const MEMBER = sql<string>`coalesce(m.user_id, m.identity_id)`;

/** Locks one organization. */
export const lockOrganization = prepared(({ organizationId }: { organizationId: string }) =>
  locked.where('o.id', '=', organizationId),
);

/** Locks organizations, as far as they are the caller's own or below it. */
export const lockOwnOrganizations = prepared(
  ({ organizationId, organizationIds }: { organizationId: string; organizationIds: readonly string[] }) =>
    locked
      .where('o.id', '=', anyOf(organizationIds))
      .where((o) => o.or([o('o.id', '=', organizationId), o('o.parent_id', '=', organizationId)])),
);

/** Locks the organizations of a member. */
export const lockOrganizationsOf = prepared(({ memberId }: { memberId: string }) =>
  locked.where('o.id', 'in', memberships.where(MEMBER, '=', memberId)),
);

/** Locks the organizations in which a group has a role. */
export const lockOrganizationsOfGroup = prepared(({ groupId }: { groupId: string }) =>
  locked.where('o.id', 'in', memberships.where('m.group_id', '=', groupId)),
);

/** Locks the organizations of which holders of credentials are lasting admins, and that of the admin of the installation. */
export const lockOrganizationsOfAdmins = prepared(({ holderIds }: { holderIds: readonly string[] }) =>
  locked.where(
    sql<boolean>`o.id in (
      ${memberships
        .where(MEMBER, '=', anyOf(holderIds))
        .where('m.role', '=', sql.lit('admin'))
        .where('m.group_id', 'is', null)
        .where('m.ends_at', 'is', null)}
      union all select i.organization_id from identity i where i.id = ${anyOf(holderIds)} and i.is_installation_admin)`,
  ),
);
