import { sql } from 'kysely';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrganizationMembershipSchema, OrganizationSchema } from '../../identity/organizations/public.js';
import { GroupSchema } from './group.entity.js';
import type { GroupMemberSchema } from './group-member.entity.js';

const tables = tablesOf<
  typeof GroupSchema | typeof GroupMemberSchema | typeof OrganizationMembershipSchema | typeof OrganizationSchema
>();

/** Groups that organizations know of, their own and those that are linked to them, with their roles in these. */
const groups = tables
  .selectFrom('member_group as g')
  .innerJoin('organization_membership as m', 'm.group_id', 'g.id')
  .select(columnsIn('g', GroupSchema))
  .select([
    'm.role as roleSlug',
    sql<
      string | null
    >`(select r.id from organization_role r where r.organization_id = m.organization_id and r.slug = m.role)`.as(
      'roleId',
    ),
  ]);

const NAME = sql`g.name collate "C"`;

/** Groups by their ids, in no order. */
export const findGroups = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  groups.where('m.organization_id', '=', organizationId).where('g.id', '=', anyOf(ids)),
);

/** A group as an organization has it that owns it, or that it is linked to. */
export type GroupRow = Awaited<ReturnType<typeof findGroups>>[number];

/** All groups that an organization knows of, by name. */
export const listGroups = prepared(({ organizationId }: { organizationId: string }) =>
  groups.where('m.organization_id', '=', organizationId).orderBy(NAME).orderBy('g.id'),
);

/** Of users and identities, by name. */
export const listGroupsOfMembers = prepared(
  ({ organizationId, memberIds }: { organizationId: string; memberIds: readonly string[] }) => {
    const memberId = sql<string>`coalesce(gm.user_id, gm.identity_id)`;
    return groups
      .innerJoin('group_member as gm', 'gm.group_id', 'g.id')
      .select(memberId.as('memberId'))
      .where('m.organization_id', '=', organizationId)
      .where(memberId, '=', anyOf(memberIds))
      .orderBy(NAME)
      .orderBy('g.id');
  },
);

interface Reach {
  readonly organizationId: string;
  readonly below: boolean;
}

/** What groups are in an organization and, for who may see that, in those below it. */
const links = ({ organizationId, below }: Reach) =>
  tables
    .selectFrom('organization_membership as m')
    .innerJoin('member_group as g', 'g.id', 'm.group_id')
    .select([
      'm.id',
      'g.id as groupId',
      'g.slug as groupSlug',
      'm.organization_id as organizationId',
      'm.role as roleSlug',
      'm.created_at as createdAt',
    ])
    .where(
      sql<boolean>`(m.organization_id = ${organizationId}
        or ${below} and m.organization_id in (select o.id from organization o where o.parent_id = ${organizationId}))`,
    );

/** Memberships of organizations by their ids, in no order. */
export const findLinks = prepared((asked: Reach & { ids: readonly string[] }) =>
  links(asked).where('m.id', '=', anyOf(asked.ids)),
);

/** What a group is in an organization. */
export type LinkRow = Awaited<ReturnType<typeof findLinks>>[number];

/** Those of groups, by id. */
export const listLinks = prepared((asked: Reach & { groupIds: readonly string[] }) =>
  links(asked).where('m.group_id', '=', anyOf(asked.groupIds)).orderBy('m.id'),
);

/** Gives a group a role in an organization, in place of the one that it had there. */
export const upsertRole = prepared((given: { id: string; organizationId: string; groupId: string; role: string }) =>
  tables
    .insertInto('organization_membership')
    .values({ id: given.id, organization_id: given.organizationId, group_id: given.groupId, role: given.role })
    .onConflict((held) =>
      held.columns(['organization_id', 'group_id']).doUpdateSet({ role: sql`excluded.role`, updated_at: sql`now()` }),
    )
    .returning(['id', 'created_at as createdAt']),
);

/**
 * The roles that a group has in organizations, and the rules of those that are not built in. Held until the transaction ends:
 * nobody gives the group another role, or a project, at the same moment.
 */
export const holdRoles = prepared(({ groupId }: { groupId: string }) =>
  tables
    .selectFrom('organization_membership as m')
    .select([
      'm.organization_id as organizationId',
      'm.role',
      sql<string | null>`(select r.permissions::text from organization_role r
        where r.organization_id = m.organization_id and r.slug = m.role)`.as('permissions'),
    ])
    .where('m.group_id', '=', groupId)
    .orderBy('m.id')
    .forUpdate('m'),
);
