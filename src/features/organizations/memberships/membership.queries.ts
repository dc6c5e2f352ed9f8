import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrganizationMembershipSchema } from '../core/membership.entity.js';

const tables = tablesOf<typeof OrganizationMembershipSchema>();

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

/** Gives a member another role, and another end if it is asked for. */
export const updateMembership = prepared((change: Place & { role: string; hasEnd: boolean; endsAt: Date | null }) =>
  tables
    .updateTable('organization_membership')
    .set({
      role: change.role,
      ends_at: sql`case when ${change.hasEnd} then ${change.endsAt}::timestamptz else ends_at end`,
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', change.organizationId)
    .where(MEMBER, '=', change.memberId)
    .returning('id'),
);

export const deleteMembership = prepared(({ organizationId, memberId }: Place) =>
  tables
    .deleteFrom('organization_membership')
    .where('organization_id', '=', organizationId)
    .where(MEMBER, '=', memberId)
    .returning('id'),
);
