import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { OrganizationMembershipSchema } from '../organizations/public.js';
import type { GroupSchema } from './group.entity.js';
import type { GroupMemberSchema } from './group-member.entity.js';

const members = tablesOf<typeof GroupMemberSchema | typeof GroupSchema | typeof OrganizationMembershipSchema>()
  .selectFrom('group_member as gm')
  .select([
    'gm.id',
    'gm.group_id as groupId',
    sql<'user' | 'identity'>`case when gm.user_id is null then 'identity' else 'user' end`.as('memberKind'),
    sql<string>`coalesce(gm.user_id, gm.identity_id)`.as('memberId'),
    'gm.name',
    'gm.created_at as joinedAt',
  ]);

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
