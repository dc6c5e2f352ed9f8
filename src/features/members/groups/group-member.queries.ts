import { type InferResult, sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { NameBounds } from '../../../kernel/paging.js';
import type { IdentitySchema, OrganizationMembershipSchema, UserSchema } from '../../identity/organizations/public.js';
import type { GroupSchema } from './group.entity.js';
import type { GroupMemberSchema } from './group-member.entity.js';

const tables = tablesOf<
  | typeof GroupMemberSchema
  | typeof GroupSchema
  | typeof OrganizationMembershipSchema
  | typeof UserSchema
  | typeof IdentitySchema
>();

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

interface Named {
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
export const listCandidates = prepared((named: Named) => {
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
