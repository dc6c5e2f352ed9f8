import { sql } from 'kysely';
import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import { IdentitySchema, type OrganizationMembershipSchema } from '../organizations/public.js';
import type { IdentityKubernetesAuthSchema } from './kubernetes-auth.entity.js';
import type { IdentityOidcAuthSchema } from './oidc-auth.entity.js';
import type { IdentityTokenAuthSchema } from './token-auth.entity.js';
import type { IdentityUniversalAuthSchema } from './universal-auth.entity.js';

const tables = tablesOf<
  | typeof IdentitySchema
  | typeof OrganizationMembershipSchema
  | typeof IdentityTokenAuthSchema
  | typeof IdentityUniversalAuthSchema
  | typeof IdentityOidcAuthSchema
  | typeof IdentityKubernetesAuthSchema
>();

/** Identities with their role in the organization that owns them, and how they authenticate. */
const identities = () =>
  tables
    .selectFrom('identity as i')
    .innerJoin('organization_membership as m', (join) =>
      join.onRef('m.organization_id', '=', 'i.organization_id').onRef('m.identity_id', '=', 'i.id'),
    )
    .leftJoin('identity_token_auth as ta', 'ta.identity_id', 'i.id')
    .leftJoin('identity_universal_auth as ua', 'ua.identity_id', 'i.id')
    .leftJoin('identity_oidc_auth as oa', 'oa.identity_id', 'i.id')
    .leftJoin('identity_kubernetes_auth as ka', 'ka.identity_id', 'i.id')
    .select(columnsIn('i', IdentitySchema))
    .select([
      'm.role as roleSlug',
      sql<boolean>`coalesce(now() < m.ends_at, true)`.as('isMember'),
      'ta.identity_id as tokenAuthId',
      'ua.identity_id as universalAuthId',
      'oa.identity_id as oidcAuthId',
      'ka.identity_id as kubernetesAuthId',
    ]);

export const findIdentities = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  identities().where('i.id', '=', anyOf(ids)).where('i.organization_id', '=', organizationId),
);

/** An identity as it is read. */
export type IdentityRow = Awaited<ReturnType<typeof findIdentities>>[number];

const ORDER_COLUMNS = { id: 'i.id', name: 'i.name', createdAt: 'i.created_at', updatedAt: 'i.updated_at' };

/** Identities of an organization but those of its projects, in an order, then by id. */
export const listIdentities = inOrders((shape) =>
  prepared((page: OrderedBounds & { organizationId: string }) =>
    identities()
      .where('i.organization_id', '=', page.organizationId)
      .where('i.project_id', 'is', null)
      .$call(pageInOrder(ORDER_COLUMNS, shape, page)),
  ),
);

/** All identities that a project owns, in no order. */
export const listProjectIdentities = prepared(({ projectId }: { projectId: string }) =>
  identities().where('i.project_id', '=', projectId),
);

// Changes of tables of slices that import this one: tokens and members of projects.

/** Makes an identity a member of the project that owns it, without rights there. */
export const joinProject = sqlStatement({
  text: `insert into project_membership (id, organization_id, project_id, identity_id, roles)
    select :id, i.organization_id, :projectId, i.id, array['no-access'] from identity i where i.id = :identityId
    returning id`,
  params: { id: t.uuid, projectId: t.uuid, identityId: t.uuid },
  row: { id: t.uuid },
});

const METHOD = t.oneOf('token-auth', 'universal-auth', 'oidc-auth', 'kubernetes-auth', 'personal');

/** Deletes the tokens of an identity that were made by a method. */
export const deleteTokensOfMethod = sqlStatement({
  text: 'delete from access_token where identity_id = :identityId and auth_method = :method returning id',
  params: { identityId: t.uuid, method: METHOD },
  row: { id: t.uuid },
});

/** Whether a stored limit is lower than another; 0 is no limit. */
const isLower = (limit: string, other: string): string => `(${limit} > 0 and (${other} = 0 or ${limit} < ${other}))`;

/** A row: the token has all that the configuration gives by which it was made, and the one of the method. */
export const findUnlimitedToken = sqlStatement({
  text: `select t.id from access_token t
    where t.id = :tokenId and not t.is_revoked and t.num_uses_limit = 0 and not exists (
      select from (
        select 'token-auth' as method, ttl_seconds, max_ttl_seconds from identity_token_auth where identity_id = t.identity_id
        union all
        select 'universal-auth', ttl_seconds, max_ttl_seconds from identity_universal_auth where identity_id = t.identity_id
        union all
        select 'oidc-auth', ttl_seconds, max_ttl_seconds from identity_oidc_auth where identity_id = t.identity_id
        union all
        select 'kubernetes-auth', ttl_seconds, max_ttl_seconds from identity_kubernetes_auth where identity_id = t.identity_id
      ) c
      where c.method in (t.auth_method, :method)
        and (${isLower('t.ttl_seconds', 'c.ttl_seconds')} or ${isLower('t.max_ttl_seconds', 'c.max_ttl_seconds')}))`,
  params: { tokenId: t.nullable(t.uuid), method: METHOD },
  row: { id: t.uuid },
});

// What rules with attributes give: a union of memberships and privileges, with roles unnested in their order.

/** Memberships `m` of an identity, and of its groups. */
const ofIdentity = (table: string, columns: string): string =>
  `select ${columns} from ${table} m where coalesce(m.user_id, m.identity_id) = :identityId
      union all
      select ${columns} from group_member g join ${table} m on m.group_id = g.group_id
      where coalesce(g.user_id, g.identity_id) = :identityId`;
const ORGANIZATION_COLUMNS = `m.id, m.organization_id, null::uuid as project_id, m.group_id, m.created_at,
        array[m.role] as roles, null::jsonb as role_terms, m.ends_at`;
/** One of the identity itself ends with that of the organization. */
const PROJECT_COLUMNS = `m.id, m.organization_id, m.project_id, m.group_id, m.created_at, m.roles, m.role_terms,
        (select o.ends_at from organization_membership o
         where o.organization_id = m.organization_id and o.identity_id = m.identity_id)`;

/** Of a role of a membership; null for one that is held for good. */
const termOf = (key: 'startsAt' | 'endsAt'): string => `(m.role_terms -> listed.slug ->> '${key}')::timestamptz`;

/**
 * What an identity holds in organizations and projects where rules name attributes: roles, of its own memberships first, then
 * privileges. What has ended is not in it, and what has not begun is. Times are seconds from now.
 */
export const listRulesWithAttributes = sqlStatement({
  text: `with membership as (
      ${ofIdentity('organization_membership', ORGANIZATION_COLUMNS)}
      union all
      ${ofIdentity('project_membership', PROJECT_COLUMNS)}
    ), held as (
      select m.organization_id, m.project_id, listed.slug as role, coalesce(p.permissions, o.permissions)::text as rules,
        ${termOf('startsAt')} as starts_at, least(${termOf('endsAt')}, m.ends_at) as ends_at,
        m.group_id is not null as is_of_group, m.created_at, m.id, listed.at
      from membership m cross join unnest(m.roles) with ordinality as listed(slug, at)
      left join project_role p on p.project_id = m.project_id and p.slug = listed.slug
      left join organization_role o on m.project_id is null and o.organization_id = m.organization_id and o.slug = listed.slug
      union all
      select m.organization_id, m.project_id, null, v.permissions::text, v.starts_at, least(v.ends_at, m.ends_at), false,
        v.created_at, v.id, 1
      from membership m join additional_privilege v on v.membership_id = m.id where m.group_id is null
    )
    select h.organization_id as "organizationId", h.project_id as "projectId",
      jsonb_agg(jsonb_build_object('role', h.role, 'rules', h.rules,
          'begins', greatest(extract(epoch from h.starts_at - now()), 0), 'ends', extract(epoch from h.ends_at - now()))
        order by h.role is null, h.is_of_group, h.created_at, h.id, h.at) as held
    from held h where h.ends_at is null or now() < h.ends_at
    group by 1, 2 having bool_or(h.rules like '%{{%')`,
  params: { identityId: t.uuid },
  row: { organizationId: t.uuid, projectId: t.nullable(t.uuid), held: t.json },
});
