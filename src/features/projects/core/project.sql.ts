import { sql } from 'kysely';
import type { Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { inOrders, orderedText } from '../../../kernel/database/ordered-page.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import {
  anyOf,
  columnNamesExcept,
  columnsOf,
  prepared,
  sqlColumnsOf,
  tablesOf,
} from '../../../kernel/database/tables.js';
import {
  attributesOf,
  hasTimedRoles,
  PROJECT_ROLES,
  RIGHTS_CACHE_SECONDS,
  type RightsOrigins,
  type StoredRules,
  storedRulesOf,
} from '../../identity/permissions/public.js';
import { type EnvironmentRecord, EnvironmentSchema } from './environment.entity.js';
import { ProjectSchema } from './project.entity.js';
import { PROJECT_KINDS } from './project.rules.js';

// What a member has in projects: hot reads with the rules of many tables as JSON, in lateral joins.

/** Callers who have only these roles need no query for other roles. */
const BUILT_IN = `array[${PROJECT_ROLES.map((slug) => `'${slug}'`).join(', ')}]`;

const ATTRIBUTE_NAMES = ['id', 'organizationId', 'type', 'name', 'slug', 'enforceEncryptedSecretMetadata'] as const;
const ATTRIBUTES = sqlColumnsOf(ProjectSchema, 'p', ATTRIBUTE_NAMES);

/** @param member SQL of its ID */
const accessColumns = (member: string): string => `${ATTRIBUTES.text}, p.revision::float8 as revision,
  m."membershipId", m.roles, m."storedRules", m.privileges,
  case when m."storedRules" is not null or m.privileges is not null then ${attributesOf(member)} end as attributes`;
const ACCESS_COLUMNS = accessColumns(':memberId');
const rules = t.nullable(t.jsonOf<readonly StoredRules[]>());
const ACCESS = {
  ...ATTRIBUTES.row,
  revision: t.double,
  membershipId: t.nullable(t.uuid),
  roles: t.array(t.text),
  storedRules: rules,
  privileges: rules,
  attributes: t.nullable(t.text),
} as const;

/** Besides those of an access. */
const SETTINGS = sqlColumnsOf(
  ProjectSchema,
  'p',
  columnNamesExcept(ProjectSchema, ...ATTRIBUTE_NAMES, 'revision', 'templateId', 'templateVersion'),
);
const ENVIRONMENTS = sqlColumnsOf(EnvironmentSchema, 'e', columnNamesExcept(EnvironmentSchema, 'organizationId'));
const PROJECT_COLUMNS = `${ACCESS_COLUMNS}, ${SETTINGS.text},
  (select coalesce(json_agg(shown order by shown.position), '[]')
   from (select ${ENVIRONMENTS.text} from environment e where e.project_id = p.id) shown) as environments`;
/** In JSON times are texts. */
type EnvironmentInJson = Omit<EnvironmentRecord, 'createdAt' | 'updatedAt'> & Record<'createdAt' | 'updatedAt', string>;
const PROJECT = {
  ...ACCESS,
  ...SETTINGS.row,
  /** By position. */
  environments: t.builtJsonOf<readonly EnvironmentInJson[]>(),
} as const;

/** The custom roles `r` of a project, and own rules of memberships of all projects, that a member has. One that is assigned twice counts at its last position. */
const OWN_ROLES = `(select listed.slug, max(listed.at) as at from unnest(held.roles) with ordinality as listed(slug, at) group by listed.slug) place
         cross join lateral (
           select o.id, o.permissions, o.permissions_digest from project_role o where o.project_id = p.id and o.slug = place.slug
           union all
           select w.id, w.permissions, w.permissions_digest from all_projects_membership w
           where w.id = case when place.slug like '*%' then substr(place.slug, 2)::uuid end) r`;
/**
 * Privileges `v` of a member that are active now, also while no role of its own membership is; but not once that
 * membership has ended with the membership of the organization, although groups may keep the member in both.
 */
const privilegesOf = (
  member: string,
): string => `additional_privilege v join project_membership d on d.id = v.membership_id
       where d.project_id = p.id and coalesce(d.user_id, d.identity_id) = ${member}
         and (v.ends_at is null or (v.starts_at <= now() and now() < v.ends_at))
         and not exists (select from organization_membership o
           where o.organization_id = d.organization_id and coalesce(o.user_id, o.identity_id) = ${member} and o.ends_at <= now())`;

/** In the order of evaluation: what a project forbids, it forbids also to members of all projects. */
const IN_ORDER = 'not n.is_of_all_projects, n.group_id is not null, n.created_at, n.id';

/** The roles of the memberships `n`: of all projects, then those of its own membership, then those of its groups, oldest first. */
const heldRoles = (
  origins = '',
): string => `(array_agg(n.id order by n.group_id is not null, n.created_at, n.id) filter (where not n.is_of_all_projects))[1] as "membershipId",
        array_agg(role.slug order by ${IN_ORDER}, role.at) as roles${origins}
      from project_member_now n cross join unnest(n.roles) with ordinality as role(slug, at)`;

/** What a member has in a project `p`: its roles there, `held`, with the rules of the custom ones, and its privileges. */
const rulesOf = (member: string, held: string, origins = ''): string => `lateral (
    select held.*,
      case when not held.roles <@ ${BUILT_IN} then
        (select jsonb_agg(${storedRulesOf('r', ':withRules')} order by place.at) from ${OWN_ROLES}) end as "storedRules",
      (select jsonb_agg(${storedRulesOf('v', ':withRules')} order by v.created_at, v.id) from ${privilegesOf(member)}) as privileges${origins}
    from (${held}) held
    where held.roles is not null offset 0) m`;

/**
 * Projects `p` with the roles and privileges that a member has in them. Projects where it has no active role are left out. `withRules`
 * requests the text of their rules.
 *
 * @param member SQL of its ID
 * @param origins further columns of it: where the roles and privileges come from
 */
const heldBy = (member: string, origins = { roles: '', rules: '' }): string =>
  `project p cross join ${rulesOf(
    member,
    `select ${heldRoles(origins.roles)} where n.project_id = p.id and n.member_id = ${member}`,
    origins.rules,
  )}`;
const FROM = heldBy(':memberId');
/** The same with the origin of each rule, in the orders of what it explains. */
const EXPLAINED = heldBy(':memberId', {
  roles: `,
        json_agg(json_build_object('role', role.slug, 'membershipId', n.id, 'groupId', n.group_id, 'isOfAllProjects', n.is_of_all_projects)
          order by ${IN_ORDER}, role.at) as memberships`,
  rules: `,
      (select coalesce(json_agg(json_build_object('id', r.id, 'slug', place.slug) order by place.at), '[]') from ${OWN_ROLES}) as "ownRoles",
      (select coalesce(json_agg(json_build_object('id', v.id, 'slug', v.slug, 'membershipId', v.membership_id)
         order by v.created_at, v.id), '[]') from ${privilegesOf(':memberId')}) as "ownPrivileges"`,
});

/**
 * All projects of the member, as `heldBy`: its memberships are read once, and not for each project. With `offset 0`
 * the projects of others are never looked through.
 *
 * @param rest conditions, order and limit of the projects
 */
const allHeld = (rest: string): string => `(
    select p.*, held."membershipId", held.roles as "heldRoles"
    from (select n.project_id, ${heldRoles()} where n.member_id = :memberId group by n.project_id) held
    cross join lateral (select * from project where id = held.project_id offset 0) p
    where ${rest}) p cross join ${rulesOf(':memberId', 'select p."membershipId", p."heldRoles" as roles')}`;

const ASKED = { memberId: t.uuid, organizationId: t.uuid, withRules: t.boolean } as const;

/** Also its membership of the organization. */
const IS_TIMED = `(${hasTimedRoles(':memberId', 'd.project_id = p.id')}
    or exists (select from organization_membership o
      where o.organization_id = p.organization_id and o.ends_at > now() and (o.user_id = :memberId or o.identity_id = :memberId)))`;

/** A member's rights in projects of the organization, and how long they last if nothing changes, in seconds since 1970. */
export const findAccesses = sqlStatement({
  text: `select ${ACCESS_COLUMNS},
      case when not ${IS_TIMED} then extract(epoch from now() + interval '${RIGHTS_CACHE_SECONDS} seconds')::float8 end as until
    from ${FROM} where p.organization_id = :organizationId and p.id = any(:projectIds::uuid[])`,
  params: { ...ASKED, projectIds: t.array(t.uuid) },
  row: { ...ACCESS, until: t.nullable(t.double) },
});

/** The same in all projects that it is a member of. */
export const listAccesses = sqlStatement({
  text: `select ${ACCESS_COLUMNS} from ${allHeld('p.organization_id = :organizationId')}`,
  params: ASKED,
  row: ACCESS,
});

/** Also in sub-organizations of the organization of the token: as the member could have a token for them. */
export const listAccessesBelow = sqlStatement({
  text: `select ${ACCESS_COLUMNS} from ${allHeld(`(:projectIds::uuid[] is null or held.project_id = any(:projectIds))
    and p.organization_id = any(array(
      select o.id from organization o where (o.id = :organizationId or o.parent_id = :organizationId)
        and exists (select from organization_member_now own where own.organization_id = o.id and own.member_id = :memberId)))`)}`,
  params: { ...ASKED, projectIds: t.nullable(t.array(t.uuid)) },
  row: ACCESS,
});

/** A member's rights in a project, and where each comes from. */
export const findExplained = sqlStatement({
  text: `select ${ACCESS_COLUMNS}, m.memberships, m."ownRoles", m."ownPrivileges" from ${EXPLAINED}
  where p.organization_id = :organizationId and p.id = :projectId
    and exists (select from organization_member_now own where own.organization_id = :organizationId and own.member_id = :memberId)`,
  params: { ...ASKED, projectId: t.uuid },
  row: {
    ...ACCESS,
    memberships: t.builtJsonOf<readonly RightsOrigins['memberships'][number][]>(),
    ownRoles: t.builtJsonOf<readonly RightsOrigins['ownRoles'][number][]>(),
    ownPrivileges: t.builtJsonOf<readonly RightsOrigins['ownPrivileges'][number][]>(),
  },
});

/** For other members: the check of the caller's own token already ensures that it is a member of the organization. */
export const findAccessesOfOthers = sqlStatement({
  text: `select asked.member_id as "memberId", ${accessColumns('asked.member_id')}
  from unnest(:memberIds::uuid[], :projectIds::uuid[]) asked(member_id, project_id), ${heldBy('asked.member_id')}
  where p.id = asked.project_id and p.organization_id = :organizationId and exists (
    select from organization_member_now own where own.organization_id = :organizationId and own.member_id = asked.member_id)`,
  params: { memberIds: t.array(t.uuid), organizationId: t.uuid, withRules: t.boolean, projectIds: t.array(t.uuid) },
  row: { memberId: t.uuid, ...ACCESS },
});

/** The project of a slug, whole. */
export const findProjectBySlug = sqlStatement({
  text: `select ${PROJECT_COLUMNS} from ${FROM} where p.organization_id = :organizationId and p.slug = :slug`,
  params: { ...ASKED, slug: t.text },
  row: PROJECT,
});

/** Slugs of projects that a member can see, which may be meant by another slug: about as long, or the beginning of it, or begun by it. */
export const listSlugsLike = sqlStatement({
  text: `select distinct p.slug, left(p.slug, 1) = left(:slug, 1) as "isLike"
    from project_member_now n join project p on p.id = n.project_id
    where n.member_id = :memberId and cardinality(n.roles) > 0 and p.organization_id = :organizationId
      and (abs(length(p.slug) - length(:slug)) <= 2 or starts_with(p.slug, :slug) or starts_with(:slug, p.slug))
    order by "isLike" desc, p.slug limit 500`,
  params: { memberId: t.uuid, organizationId: t.uuid, slug: t.text },
  row: { slug: t.text, isLike: t.boolean },
});

/** Whole projects, in no order. */
export const findProjects = sqlStatement({
  text: `select ${PROJECT_COLUMNS} from ${FROM} where p.organization_id = :organizationId and p.id = any(:projectIds::uuid[])`,
  params: { ...ASKED, projectIds: t.array(t.uuid) },
  row: PROJECT,
});

const ORDER_COLUMNS = { id: 'p.id', name: 'p.name', createdAt: 'p.created_at', updatedAt: 'p.updated_at' };
const ORDER_PARAMS = { value: ':value', id: ':id', since: ':since', limit: ':limit::integer' };

const PAGE = {
  ...ASKED,
  type: t.nullable(t.oneOf(...PROJECT_KINDS)),
  value: t.nullable(t.text),
  id: t.nullable(t.uuid),
  since: t.nullable(t.time),
  limit: t.nullable(t.integer),
};

/** The projects of a member, of one type or of all, in an order. */
export const listProjects = inOrders((shape) => {
  const { condition, rest } = orderedText(ORDER_COLUMNS, shape, ORDER_PARAMS);
  return sqlStatement({
    text: `select ${PROJECT_COLUMNS} from ${allHeld(`p.organization_id = :organizationId
      and (:type::text is null or p.type = :type) and ${condition} ${rest}`)} ${rest}`,
    params: PAGE,
    row: PROJECT,
  });
});

/** All projects of an organization, of one type or of all, in an order, with what a member has in them: nothing in most. */
export const listProjectsOfOrganization = inOrders((shape) => {
  const { condition, rest } = orderedText(ORDER_COLUMNS, shape, ORDER_PARAMS);
  const held = `select ${heldRoles()} where n.project_id = p.id and n.member_id = :memberId`;
  return sqlStatement({
    text: `select ${PROJECT_COLUMNS} from (
        select p.* from project p
        where p.organization_id = :organizationId and (:type::text is null or p.type = :type) and ${condition} ${rest}) p
      cross join lateral (
        select m."membershipId", coalesce(m.roles, '{}') as roles, m."storedRules", m.privileges
        from (select) one left join ${rulesOf(':memberId', held)} on true) m ${rest}`,
    params: PAGE,
    row: PROJECT,
  });
});

/** What a group has in its projects, without ended terms and with terms that have not begun. Locks its memberships. */
export const lockAssignmentsOfGroup = sqlStatement({
  text: `select m.project_id as "projectId", held.roles,
    (select json_agg(r.permissions order by array_position(held.roles, r.slug))
     from project_role r where r.project_id = m.project_id and r.slug = any(held.roles)) as "storedRules",
    (select json_agg(v.permissions order by v.created_at, v.id) from additional_privilege v
     where v.membership_id = m.id and (v.ends_at is null or now() < v.ends_at)) as privileges
  from project_membership m cross join lateral (
    select array(select role from unnest(m.roles) role
      where not coalesce(m.role_terms ? role, false) or now() < (m.role_terms -> role ->> 'endsAt')::timestamptz) as roles) held
  where m.group_id = :groupId order by m.id for share of m`,
  params: { groupId: t.uuid },
  row: {
    projectId: t.uuid,
    roles: t.array(t.text),
    /** Rules of each custom role and of each privilege; null for none. */
    storedRules: t.nullable(t.builtJsonOf<readonly unknown[]>()),
    privileges: t.nullable(t.builtJsonOf<readonly unknown[]>()),
  },
});

/**
 * SQL that is true if the organization key of a project is disabled, so that no value of the project can be decrypted.
 *
 * @param projectId an expression for its ID
 */
export const hasDisabledKey = (projectId: string): string =>
  `exists (select from project p join organization_key k on k.id = p.kms_secret_manager_key_id
      where p.id = ${projectId} and k.disabled_at is not null)`;

const tables = tablesOf<typeof ProjectSchema>();

/**
 * Blocks other changes of a project's row until the commit. Inserts of rows that refer to it do not wait.
 * `now`: the current time of the database.
 */
export const lockProjectRow = prepared(({ id }: { id: string }) =>
  tables
    .selectFrom('project')
    .select([
      'id',
      'organization_id as organizationId',
      'kms_secret_manager_key_id as keyId',
      sql<Date>`now()`.as('now'),
    ])
    .where('id', '=', id)
    .forNoKeyUpdate(),
);

/** How many projects a member has. Its memberships tell: no project is looked at. */
export const countMemberProjects = sqlStatement({
  text: `select count(distinct n.project_id)::integer as count from project_member_now n
  where n.organization_id = :organizationId and n.member_id = :memberId and cardinality(n.roles) > 0`,
  params: { memberId: t.uuid, organizationId: t.uuid },
  row: { count: t.integer },
});

/** How many projects of each type a member has. In the form of the list. */
export const countProjectsByType = prepared(
  ({ memberId, organizationId }: { memberId: string; organizationId: string }) =>
    tables
      .selectFrom('project')
      .select(['type', sql<number>`count(*)::integer`.as('count')])
      .where('organization_id', '=', organizationId)
      .where('id', 'in', (query) =>
        query
          .selectFrom(sql<{ project_id: string; member_id: string }>`project_member_now`.as('n'))
          .select('n.project_id')
          .where('n.member_id', '=', memberId)
          .where(sql<boolean>`cardinality(n.roles) > 0`),
      )
      .groupBy('type'),
);

/** How many projects of each type an organization has. */
export const countProjectsOfOrganization = prepared(({ organizationId }: { organizationId: string }) =>
  tables
    .selectFrom('project')
    .select(['type', sql<number>`count(*)::integer`.as('count')])
    .where('organization_id', '=', organizationId)
    .groupBy('type'),
);

/** Environments of whatever projects, in no order. The project decides who may see them. */
export const findEnvironments = prepared(({ ids }: { ids: readonly string[] }) =>
  tablesOf<typeof EnvironmentSchema>()
    .selectFrom('environment')
    .select(columnsOf(EnvironmentSchema, 'organizationId'))
    .where('id', '=', anyOf(ids)),
);

/** Checks the constraint on imports from another environment now, and not at commit. */
export const checkImports = (tx: Transaction): Promise<unknown> =>
  query(tx, 'set constraints secret_import_source_fk immediate');
