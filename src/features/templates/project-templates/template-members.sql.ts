import { sql } from 'kysely';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { IdentitySchema, OrganizationMembershipSchema } from '../../identity/organizations/public.js';

interface Members {
  readonly organizationId: string;
  readonly ids: readonly string[];
}

const memberships = ({ organizationId, ids }: Members) =>
  tablesOf<typeof OrganizationMembershipSchema | typeof IdentitySchema>()
    .selectFrom('organization_membership as m')
    .leftJoin('identity as i', 'i.id', 'm.identity_id')
    .select([
      sql<string>`coalesce(m.user_id, m.group_id, m.identity_id)`.as('id'),
      sql<boolean>`m.ends_at is not null and m.ends_at <= now()`.as('hasEnded'),
    ])
    .where('m.organization_id', '=', organizationId)
    .where('i.project_id', 'is', null)
    .where((m) => {
      const any = anyOf(ids);
      return m.or([m('m.user_id', '=', any), m('m.group_id', '=', any), m('m.identity_id', '=', any)]);
    });

/** Organization memberships of users, groups and identities, by ID. Identities owned by projects have none here. */
export const findMemberships = prepared((asked: Members) => memberships(asked));

/** The same, locked: none is deleted before the transaction ends. */
export const lockMemberships = prepared((asked: Members) => memberships(asked).orderBy('m.id').forKeyShare('m'));

// Members of three kinds in one list, by whatever requests name them by.

const KIND = t.oneOf('user', 'group', 'identity');
/** An organization membership that has not ended. */
const LASTS = '(m.ends_at is null or now() < m.ends_at)';

/** Users, groups and identities of an organization, by the names in requests; those of the root organization come second. */
export const findMembers = sqlStatement({
  text: `(select distinct on (u.username) 'user' as kind, u.username as name, u.id
      from app_user u join organization_membership m on m.organization_id = :organizationId and m.user_id = u.id and ${LASTS}
      where u.organization_id in (:organizationId, :rootOrganizationId) and u.username = any(:usernames)
      order by u.username, u.organization_id = :organizationId desc)
    union all
    (select distinct on (g.slug) 'group', g.slug, g.id
      from member_group g join organization_membership m on m.organization_id = :organizationId and m.group_id = g.id and ${LASTS}
      where g.organization_id in (:organizationId, :rootOrganizationId) and g.slug = any(:groupSlugs)
      order by g.slug, g.organization_id = :organizationId desc)
    union all
    select 'identity', i.id::text, i.id
      from identity i join organization_membership m on m.organization_id = :organizationId and m.identity_id = i.id and ${LASTS}
      where i.id = any(:identityIds) and i.project_id is null`,
  params: {
    organizationId: t.uuid,
    rootOrganizationId: t.uuid,
    usernames: t.array(t.text),
    groupSlugs: t.array(t.text),
    identityIds: t.array(t.uuid),
  },
  row: { kind: KIND, name: t.text, id: t.uuid },
});
