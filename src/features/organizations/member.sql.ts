import { inOrders, orderedText } from '../../kernel/database/ordered-page.js';
import { sqlStatement, t } from '../../kernel/database/statement.js';

/** The start of every statement that reads members of organizations; `m` is the membership. */
const SELECT = `select m.id, case when m.user_id is null then 'identity' else 'user' end as "memberKind",
    coalesce(m.user_id, m.identity_id) as "memberId", m.name,
    m.organization_id as "organizationId", m.role as "roleSlug", m.ends_at as "endsAt",
    m.created_at as "createdAt", m.updated_at as "updatedAt"
  from organization_membership m`;
const MEMBER = {
  id: t.uuid,
  memberKind: t.oneOf('user', 'identity'),
  memberId: t.uuid,
  name: t.text,
  organizationId: t.uuid,
  roleSlug: t.text,
  endsAt: t.nullable(t.time),
  createdAt: t.time,
  updatedAt: t.time,
} as const;

/** Not groups, and not identities of projects, which have no name here: these are members in name only, and known in their projects alone. */
const IS_LISTED = "m.name <> ''";

/** Memberships of an organization and, if asked for, of those below it. */
export const findMembers = sqlStatement({
  text: `${SELECT} where ${IS_LISTED} and m.id = any(:ids::uuid[]) and (m.organization_id = :organizationId
       or :isBelowToo and exists (select from organization o where o.id = m.organization_id and o.parent_id = :organizationId))`,
  params: { ids: t.array(t.uuid), organizationId: t.uuid, isBelowToo: t.boolean },
  row: MEMBER,
});

const ORDER_COLUMNS = { id: 'id', name: 'name', createdAt: '"createdAt"', updatedAt: '"updatedAt"' };
const ORDER_PARAMS = { value: ':value', id: ':id', since: ':since', limit: ':limit::integer' };

/** The members of an organization in an order. */
export const listMembers = inOrders((shape) => {
  const { condition, rest } = orderedText(ORDER_COLUMNS, shape, ORDER_PARAMS);
  return sqlStatement({
    text: `select * from (${SELECT} where m.organization_id = :organizationId and ${IS_LISTED}) as member
      where ${condition} ${rest}`,
    params: {
      organizationId: t.uuid,
      value: t.nullable(t.text),
      id: t.nullable(t.uuid),
      since: t.nullable(t.time),
      limit: t.nullable(t.integer),
    },
    row: MEMBER,
  });
});

/** How many members organizations have. */
export const countMembersOfOrganizations = sqlStatement({
  text: `select m.organization_id as "organizationId", count(*)::integer as count
    from organization_membership m where m.organization_id = any(:organizationIds::uuid[]) and ${IS_LISTED} group by 1`,
  params: { organizationIds: t.array(t.uuid) },
  row: { organizationId: t.uuid, count: t.integer },
});

const CANDIDATE = {
  params: { id: t.uuid, organizationId: t.uuid, rootOrganizationId: t.uuid },
  row: { id: t.uuid, name: t.text, ownerId: t.uuid, isInstallationAdmin: t.boolean },
} as const;

/**
 * Somebody whose account is owned by the organization or by the root above it. Both kinds are read here and not in the slice of
 * identities, which stands on this one.
 */
export const HOLD_CANDIDATE = {
  user: sqlStatement({
    text: `select id, username as name, organization_id as "ownerId", false as "isInstallationAdmin"
      from app_user where id = :id and organization_id in (:organizationId, :rootOrganizationId) for key share`,
    ...CANDIDATE,
  }),
  identity: sqlStatement({
    text: `select id, name, organization_id as "ownerId", is_installation_admin as "isInstallationAdmin"
      from identity where id = :id and organization_id in (:organizationId, :rootOrganizationId) and project_id is null for key share`,
    ...CANDIDATE,
  }),
} as const;
