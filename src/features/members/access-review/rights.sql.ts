import { sql } from 'kysely';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { IdentitySchema, UserSchema } from '../../identity/organizations/public.js';
import type { AllProjectsMembershipSchema, ProjectRoleSchema, ProjectSchema } from '../../projects/public.js';

const tables = tablesOf<
  | typeof ProjectRoleSchema
  | typeof ProjectSchema
  | typeof AllProjectsMembershipSchema
  | typeof IdentitySchema
  | typeof UserSchema
>();

/** The custom roles of projects, and the own rules of memberships of all projects. @param withRules whether to return the text of their rules too */
export const listRolesNow = prepared(
  ({ projectIds, withRules }: { projectIds: readonly string[]; withRules: boolean }) =>
    tables
      .selectFrom('project_role')
      .select(['project_id as projectId', 'slug', 'permissions_digest as digest'])
      .select(sql<string | null>`case when ${withRules}::boolean then permissions::text end`.as('rules'))
      .where('project_id', '=', anyOf(projectIds))
      .unionAll(
        tables
          .selectFrom('all_projects_membership as w')
          .innerJoin('project as p', 'p.organization_id', 'w.organization_id')
          .select(['p.id as projectId', sql<string>`'*' || w.id`.as('slug'), 'w.permissions_digest as digest'])
          .select(sql<string | null>`case when ${withRules}::boolean then w.permissions::text end`.as('rules'))
          .where('p.id', '=', anyOf(projectIds))
          .where('w.permissions_digest', 'is not', null)
          .$narrowType<{ digest: string }>(),
      ),
);

/** What rules can name of an identity. */
type Metadata = readonly { readonly key: string; readonly value: string }[];

/** Names of members, and if wanted the metadata of identities, which many members have a lot of. Deleted members are not there. */
export const listMembersNow = prepared(
  ({ memberIds, withMetadata }: { memberIds: readonly string[]; withMetadata: boolean }) =>
    tables
      .selectFrom('identity')
      .select([
        'id as memberId',
        'name',
        sql<Metadata | null>`case when ${withMetadata}::boolean then metadata end`.as('metadata'),
      ])
      .where('id', '=', anyOf(memberIds))
      .unionAll(
        tables
          .selectFrom('app_user')
          .select(['id as memberId', 'username as name', sql<Metadata | null>`null::jsonb`.as('metadata')])
          .where('id', '=', anyOf(memberIds)),
      ),
);

// Lists of many thousand members as bytes, and their history, which is read from JSON.

/** Members by ID, 16 bytes each: groups can give each of ten thousand members ten memberships. */
const HELD = {
  projectId: t.uuid,
  id: t.uuid,
  isGroup: t.boolean,
  isOfAllProjects: t.boolean,
  roles: t.array(t.text),
  users: t.bytea,
  identities: t.bytea,
} as const;

/** Members of the membership `m`. @param users @param identities SQL of the IDs of a group's members */
const held = (
  users: string,
  identities: string,
): string => `select p.id as "projectId", m.id, m.group_id is not null as "isGroup", m.is_of_all_projects as "isOfAllProjects", m.roles,
    coalesce(uuid_send(m.user_id), ${users}, ''::bytea) as users, coalesce(uuid_send(m.identity_id), ${identities}, ''::bytea) as identities
  from m join project p on p.id = m.project_id`;

const IN_ORDER = 'order by not m.is_of_all_projects, m.group_id is not null, m.created_at, m.id';

/** Per group: an index returns the rows in order, while a hundred thousand rows at once would have to be sorted. */
const idsInGroup = (column: 'user_id' | 'identity_id'): string => `(
    select string_agg(uuid_send(g.${column}), ''::bytea) from group_member g where g.group_id = m.group_id and g.${column} is not null)`;

/** A project membership `m` ended with the organization membership that it depends on. */
const HAS_ENDED = `exists (
    select from organization_membership o where o.organization_id = m.organization_id and o.ends_at <= now()
      and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id))`;

/** As the view `project_member_now` has them. */
const rolesOfAllProjects = (role: string, hasRules: string, id: string): string =>
  `case when ${hasRules} then array[${role}, '*' || ${id}] else array[${role}] end`;

const MEMBERSHIPS = `select given.* from (
    select m.id, m.project_id, m.user_id, m.identity_id, m.group_id, m.created_at,
      case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end as roles, false as is_of_all_projects
    from project_membership m where m.project_id = any(:projectIds) and not ${HAS_ENDED}
    union all
    select m.id, p.id, m.user_id, m.identity_id, m.group_id, m.created_at,
      ${rolesOfAllProjects('m.role', 'm.permissions is not null', 'm.id')}, true
    from unnest(:projectIds) asked(id) join project p on p.id = asked.id
      join all_projects_membership m on m.organization_id = p.organization_id
    where (m.ends_at is null or now() < m.ends_at) and not ${HAS_ENDED}) given
  where cardinality(given.roles) > 0`;

/**
 * All memberships of projects with their members, as the view `project_member_now` has them: those of all projects
 * first, then direct ones, then those of groups, oldest first.
 */
export const listRightsNow = sqlStatement({
  text: `with m as materialized (${MEMBERSHIPS}) ${held(idsInGroup('user_id'), idsInGroup('identity_id'))} ${IN_ORDER}`,
  params: { projectIds: t.array(t.uuid) },
  row: HELD,
});

const ROLE = { projectId: t.uuid, slug: t.text, digest: t.text, rules: t.nullable(t.text) } as const;
const PRIVILEGE = { ...ROLE, membershipId: t.uuid, memberId: t.uuid } as const;

/** Active privileges of members of a project, in order of evaluation. @param withRules whether to return the text of their rules too */
export const listPrivilegesNow = sqlStatement({
  text: `select v.project_id as "projectId", v.membership_id as "membershipId", coalesce(m.user_id, m.identity_id) as "memberId",
      v.slug, v.permissions_digest as digest, case when :withRules then v.permissions::text end as rules
    from additional_privilege v join project_membership m on m.id = v.membership_id
    where v.project_id = any(:projectIds) and (v.ends_at is null or (v.starts_at <= now() and now() < v.ends_at)) and not ${HAS_ENDED}
    order by v.created_at, v.id`,
  params: { projectIds: t.array(t.uuid), withRules: t.boolean },
  row: PRIVILEGE,
});

/** The state of the rows of a table at a point in time. */
const was = (source: string, columns: string): string => `(
    select ${columns} from access_history h
    where h.source = '${source}' and h.organization_id = :organizationId and h.valid_from <= :at and (h.valid_to is null or :at < h.valid_to))`;

/** Users and identities that were direct members of the organization. */
const ORGANIZATION_MEMBERS = `(select o.member_id from ${was(
  'organization_membership',
  `coalesce(h.content ->> 'user_id', h.content ->> 'identity_id')::uuid as member_id, (h.content ->> 'ends_at')::timestamptz as ends_at`,
)} o where o.member_id is not null and (o.ends_at is null or :at < o.ends_at))`;

/** Of a membership of all projects. */
const RULES_THEN = `nullif(h.content -> 'permissions', 'null'::jsonb)`;

const MEMBERSHIPS_THEN = `select m.* from (
    select w.id, w.project_id, w.user_id, w.identity_id, w.group_id, w.created_at,
      array(select role from unnest(w.roles) with ordinality as listed(role, place)
        where not coalesce(w.role_terms ? role, false)
          or ((w.role_terms -> role ->> 'startsAt')::timestamptz <= :at and :at < (w.role_terms -> role ->> 'endsAt')::timestamptz)
        order by place) as roles, false as is_of_all_projects
    from ${was(
      'project_membership',
      `h.row_id as id, h.project_id, (h.content ->> 'user_id')::uuid as user_id,
        (h.content ->> 'identity_id')::uuid as identity_id, (h.content ->> 'group_id')::uuid as group_id,
        nullif(h.content -> 'role_terms', 'null'::jsonb) as role_terms, (h.content ->> 'created_at')::timestamptz as created_at,
        array(select jsonb_array_elements_text(h.content -> 'roles')) as roles`,
    )} w
    where w.project_id = any(:projectIds)
    union all
    select w.id, p.id, w.user_id, w.identity_id, w.group_id, w.created_at, ${rolesOfAllProjects('w.role', 'w.permissions is not null', 'w.id')}, true
    from project p cross join ${was(
      'all_projects_membership',
      `h.row_id as id, (h.content ->> 'user_id')::uuid as user_id, (h.content ->> 'identity_id')::uuid as identity_id,
        (h.content ->> 'group_id')::uuid as group_id, h.content ->> 'role' as role, ${RULES_THEN} as permissions,
        (h.content ->> 'ends_at')::timestamptz as ends_at, (h.content ->> 'created_at')::timestamptz as created_at`,
    )} w
    where p.id = any(:projectIds) and p.organization_id = :organizationId and p.created_at <= :at and (w.ends_at is null or :at < w.ends_at)) m
  where cardinality(m.roles) > 0
    and (m.group_id is not null or coalesce(m.user_id, m.identity_id) in ${ORGANIZATION_MEMBERS})`;

const GROUP_MEMBERS_THEN = was(
  'group_member',
  `(h.content ->> 'group_id')::uuid as group_id, (h.content ->> 'user_id')::uuid as user_id,
        (h.content ->> 'identity_id')::uuid as identity_id`,
);

const AT = { projectIds: t.array(t.uuid), organizationId: t.uuid, at: t.time } as const;

/** As `listRightsNow`, at a point in time. */
export const listRightsAt = sqlStatement({
  text: `with m as materialized (${MEMBERSHIPS_THEN}),
    belonging as (
      select g.group_id, string_agg(uuid_send(g.user_id), ''::bytea) as users, string_agg(uuid_send(g.identity_id), ''::bytea) as identities
      from ${GROUP_MEMBERS_THEN} g where g.group_id in (select group_id from m) group by g.group_id)
    ${held('belonging.users', 'belonging.identities')} left join belonging on belonging.group_id = m.group_id ${IN_ORDER}`,
  params: AT,
  row: HELD,
});

/** As `listRolesNow`, at a point in time. */
export const listRolesAt = sqlStatement({
  text: `select p.id as "projectId", r.slug, r.permissions as digest, r.permissions as rules from project p join ${was('project_role', `h.project_id, h.content ->> 'slug' as slug, (h.content -> 'permissions')::text as permissions`)} r
    on p.id = r.project_id where p.id = any(:projectIds)
    union all
    select p.id, '*' || w.row_id, w.permissions::text, w.permissions::text
    from project p cross join ${was('all_projects_membership', `h.row_id, ${RULES_THEN} as permissions`)} w
    where p.id = any(:projectIds) and p.organization_id = :organizationId and w.permissions is not null`,
  params: AT,
  row: ROLE,
});

/** As `listPrivilegesNow`, at a point in time. */
export const listPrivilegesAt = sqlStatement({
  text: `select p.id as "projectId", v.membership_id as "membershipId", coalesce(m.user_id, m.identity_id) as "memberId", v.slug,
      v.permissions as digest, v.permissions as rules
    from project p join ${was(
      'additional_privilege',
      `h.row_id, h.project_id, (h.content ->> 'membership_id')::uuid as membership_id, h.content ->> 'slug' as slug,
      (h.content -> 'permissions')::text as permissions, (h.content ->> 'starts_at')::timestamptz as starts_at,
      (h.content ->> 'ends_at')::timestamptz as ends_at, (h.content ->> 'created_at')::timestamptz as created_at`,
    )} v on v.project_id = p.id
    join ${was('project_membership', `h.row_id as id, (h.content ->> 'user_id')::uuid as user_id, (h.content ->> 'identity_id')::uuid as identity_id`)} m
      on m.id = v.membership_id
    where p.id = any(:projectIds) and (v.ends_at is null or (v.starts_at <= :at and :at < v.ends_at))
      and coalesce(m.user_id, m.identity_id) in ${ORGANIZATION_MEMBERS}
    order by v.created_at, v.row_id`,
  params: AT,
  row: PRIVILEGE,
});

/**
 * The metadata of identities at a point in time, also of those that were deleted since; null for others. Of two valid rows for a member, as
 * concurrent changes can leave them, the later one comes last.
 */
export const listMetadataAt = sqlStatement({
  text: `select member.id as "memberId", h.content -> 'metadata' as metadata
    from unnest(:memberIds::uuid[]) member(id)
    left join access_history h on h.source = 'identity' and h.row_id = member.id
      and h.valid_from <= :at and (h.valid_to is null or :at < h.valid_to)
    order by h.sequence`,
  params: { memberIds: t.array(t.uuid), at: t.time },
  row: { memberId: t.uuid, metadata: t.nullable(t.jsonOf<Metadata>()) },
});
