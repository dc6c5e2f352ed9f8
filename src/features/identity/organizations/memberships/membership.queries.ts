import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { IdentitySchema } from '../core/identity.entity.js';
import type { OrganizationMembershipSchema } from '../core/membership.entity.js';
import type { UserSchema } from '../core/user.entity.js';

const tables = tablesOf<typeof OrganizationMembershipSchema | typeof UserSchema | typeof IdentitySchema>();

interface Place {
  readonly organizationId: string;
  readonly memberId: string;
}

/** A user or a machine identity: an index has this expression. */
const MEMBER = sql<string>`coalesce(user_id, identity_id)`;

/** Locks a membership. `isNow`: it has not ended. */
export const lockHeldMembership = prepared(({ organizationId, memberId }: Place) =>
  tables
    .selectFrom('organization_membership')
    .select(['role', 'ends_at as endsAt', sql<boolean>`coalesce(now() < ends_at, true)`.as('isNow')])
    .where('organization_id', '=', organizationId)
    .where(MEMBER, '=', memberId)
    .forUpdate(),
);

/** A row: somebody is a member right now, directly or through a group. */
export const findMemberNow = prepared(({ organizationId, memberId }: Place) =>
  tables
    .selectFrom(sql<{ organization_id: string; member_id: string }>`organization_member_now`.as('now'))
    .select('member_id')
    .where('organization_id', '=', organizationId)
    .where('member_id', '=', memberId)
    .limit(1),
);

export const deleteMembership = prepared(({ organizationId, memberId }: Place) =>
  tables
    .deleteFrom('organization_membership')
    .where('organization_id', '=', organizationId)
    .where(MEMBER, '=', memberId)
    .returning('id'),
);

interface Owned {
  readonly id: string;
  readonly organizationId: string;
  readonly rootOrganizationId: string;
}

/** Somebody whose account is owned by the organization or by the root above it. It is not deleted before the transaction ends. */
export const holdCandidate = {
  user: prepared(({ id, organizationId, rootOrganizationId }: Owned) =>
    tables
      .selectFrom('app_user')
      .select(['id', 'organization_id as ownerId', 'username as name', sql<boolean>`false`.as('isInstallationAdmin')])
      .where('id', '=', id)
      .where('organization_id', 'in', [organizationId, rootOrganizationId])
      .forKeyShare(),
  ),
  identity: prepared(({ id, organizationId, rootOrganizationId }: Owned) =>
    tables
      .selectFrom('identity')
      .select(['id', 'organization_id as ownerId', 'name', 'is_installation_admin as isInstallationAdmin'])
      .where('id', '=', id)
      .where('organization_id', 'in', [organizationId, rootOrganizationId])
      .where('project_id', 'is', null)
      .forKeyShare(),
  ),
} as const;
