import { type InferResult, sql } from 'kysely';
import { anyOf, COUNT, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { NameBounds } from '../../../kernel/paging.js';
import type {
  IdentitySchema,
  OrganizationMembershipSchema,
  OrganizationSchema,
  UserSchema,
} from '../../identity/organizations/public.js';
import { GroupSchema } from './group.entity.js';
import type { GroupMemberSchema } from './group-member.entity.js';

const tables = tablesOf<
  | typeof GroupSchema
  | typeof GroupMemberSchema
  | typeof OrganizationMembershipSchema
  | typeof OrganizationSchema
  | typeof UserSchema
  | typeof IdentitySchema
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
export type GroupInOrganizationRow = Awaited<ReturnType<typeof findLinks>>[number];

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
export const lockRoles = prepared(({ groupId }: { groupId: string }) =>
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

const KINDS = ['user', 'identity'] as const;
type Kind = (typeof KINDS)[number];
const KIND = sql<Kind>`case when gm.user_id is null then 'identity' else 'user' end`;

const members = tables
  .selectFrom('group_member as gm')
  .select([
    'gm.id',
    'gm.group_id as groupId',
    KIND.as('memberKind'),
    sql<string>`coalesce(gm.user_id, gm.identity_id)`.as('memberId'),
    'gm.name',
    'gm.created_at as joinedAt',
  ]);

/** A member of a group as it is read. */
export type GroupMemberRow = InferResult<typeof members>[number];

/** Members by their ids, of groups that an organization knows of, by name; with the slugs of the groups. */
export const findMembers = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  members
    .innerJoin('member_group as g', 'g.id', 'gm.group_id')
    .innerJoin('organization_membership as m', 'm.group_id', 'g.id')
    .select('g.slug as groupSlug')
    .where('gm.id', '=', anyOf(ids))
    .where('m.organization_id', '=', organizationId)
    .orderBy(sql`gm.name collate "C"`)
    .orderBy('gm.id'),
);

/** Some members of one group, by their users and identities, by name. */
export const findNamedMembers = prepared(
  (named: {
    groupId: string;
    userIds: readonly string[];
    identityIds: readonly string[];
    usernames: readonly string[];
  }) =>
    members
      .where('gm.group_id', '=', named.groupId)
      .where(
        sql<boolean>`(gm.user_id = ${anyOf(named.userIds)} or gm.identity_id = ${anyOf(named.identityIds)}
          or gm.user_id is not null and gm.name = any(${named.usernames}::text[]))`,
      )
      .orderBy('gm.name')
      .orderBy('gm.id'),
);

/**
 * A page of the members of each of many groups, by name, then id: of the kinds that are named, after the row of this name and id. Each
 * kind is in the order of an index, so that others are not read.
 */
export const listMembers = prepared((page: NameBounds & { groupIds: readonly string[]; kinds: readonly Kind[] }) => {
  const ofKinds = KINDS.map((kind) => {
    const ofKind = members
      .where('gm.group_id', '=', sql<string>`owner.id`)
      .where(KIND, '=', sql.lit(kind))
      .where(sql<boolean>`${sql.lit(kind)} = any(${page.kinds}::text[])`)
      .where(
        sql<boolean>`(gm.name, gm.id) > (coalesce(${page.name}::text, ''), coalesce(${page.id}::uuid, ${sql.lit(NO_ID)}))`,
      )
      .orderBy('gm.name')
      .orderBy('gm.id')
      .limit(page.limit);
    return sql`(${ofKind})`;
  });
  return tables
    .selectFrom(sql<{ id: string }>`unnest(${page.groupIds}::uuid[])`.as<'owner'>(sql`owner (id)`))
    .crossJoinLateral(
      sql<GroupMemberRow>`(select * from (${sql.join(ofKinds, sql` union all `)}) member
        order by name, id limit ${page.limit}::integer)`.as('page'),
    )
    .selectAll('page');
});

/** How many members of these kinds groups have; one without any has no row. */
export const countMembers = prepared(({ groupIds, kinds }: { groupIds: readonly string[]; kinds: readonly Kind[] }) =>
  tables
    .selectFrom('group_member as gm')
    .select(['gm.group_id as groupId', COUNT])
    .where('gm.group_id', '=', anyOf(groupIds))
    .where(sql<boolean>`${KIND} = any(${kinds}::text[])`)
    .groupBy('gm.group_id'),
);

interface Candidates {
  readonly groupId: string;
  readonly organizationId: string;
  readonly rootOrganizationId: string;
  readonly userIds: readonly string[];
  readonly identityIds: readonly string[];
  readonly usernames: readonly string[];
}

/**
 * Who of an organization can join a group, and who is in it already. A user of its own comes before one of the root; identities of
 * projects stay in their projects.
 */
export const listCandidates = prepared((named: Candidates) => {
  const { groupId, organizationId, rootOrganizationId } = named;
  const users = tables
    .selectFrom('app_user as u')
    .innerJoin('organization_membership as m', 'm.user_id', 'u.id')
    .select([sql<Kind>`'user'`.as('memberKind'), 'u.id', 'u.username as name'])
    .select([
      sql<boolean>`false`.as('isInstallationAdmin'),
      sql<boolean>`exists (select from group_member g where g.group_id = ${groupId} and g.user_id = u.id)`.as(
        'isMember',
      ),
    ])
    .where('m.organization_id', '=', organizationId)
    .where(
      sql<boolean>`(u.id = ${anyOf(named.userIds)} or u.username = any(${named.usernames}::text[]) and u.id = (
        select n.id from app_user n join organization_membership o on o.organization_id = ${organizationId} and o.user_id = n.id
        where n.username = u.username and n.organization_id in (${organizationId}, ${rootOrganizationId})
        order by n.organization_id = ${organizationId} desc limit 1))`,
    );
  const identities = tables
    .selectFrom('identity as i')
    .innerJoin('organization_membership as m', 'm.identity_id', 'i.id')
    .select([
      sql<Kind>`'identity'`.as('memberKind'),
      'i.id',
      'i.name',
      'i.is_installation_admin as isInstallationAdmin',
    ])
    .select(
      sql<boolean>`exists (select from group_member g where g.group_id = ${groupId} and g.identity_id = i.id)`.as(
        'isMember',
      ),
    )
    .where('m.organization_id', '=', organizationId)
    .where('i.id', '=', anyOf(named.identityIds))
    .where('i.project_id', 'is', null);
  return users.unionAll(identities);
});
