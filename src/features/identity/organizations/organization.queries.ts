import { sql } from 'kysely';
import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { anyOf, COUNT, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import type { OrganizationMembershipSchema } from './core/membership.entity.js';
import { OrganizationSchema } from './core/organization.entity.js';
import { UserSchema } from './core/user.entity.js';
import type { Member } from './memberships/memberships.js';

const tables = tablesOf<typeof OrganizationSchema | typeof UserSchema | typeof OrganizationMembershipSchema>();

const organizations = tables.selectFrom('organization as o').select(columnsIn('o', OrganizationSchema));

interface Scope {
  readonly organizationId: string;
  readonly rootOrganizationId: string;
}

/** What a scope can see: itself, its root, and below a root the sub-organizations. */
const isSeen = ({ organizationId, rootOrganizationId }: Scope) =>
  sql<boolean>`(o.id in (${organizationId}, ${rootOrganizationId}) or o.parent_id = ${organizationId})`;

/** Organizations that a scope can see, in no order. */
export const findOrganizations = prepared((asked: Scope & { ids: readonly string[] }) =>
  organizations.where('o.id', '=', anyOf(asked.ids)).where(isSeen(asked)),
);

/** An organization as services pass it on. */
export type OrganizationView = Awaited<ReturnType<typeof findOrganizations>>[number];

const LEVEL = sql`case when o.parent_id is null then 0 else 1 end`;

/** All of them: the root first, then by name and id. */
export const listOrganizations = prepared(
  (page: Scope & Readonly<Record<'level' | 'name' | 'id', string | null>> & { readonly limit: number | null }) =>
    organizations
      .where(isSeen(page))
      .where(
        sql<boolean>`(${page.level}::text is null
          or (${LEVEL}, o.name collate "C", o.id) > (${page.level}::integer, ${page.name}, ${page.id}::uuid))`,
      )
      .orderBy(LEVEL)
      .orderBy(sql`o.name collate "C"`)
      .orderBy('o.id')
      .limit(page.limit),
);

/** Number of them. */
export const countOrganizations = prepared((scope: Scope) =>
  tables.selectFrom('organization as o').select(COUNT).where(isSeen(scope)),
);

/** The sub-organization of a root by its slug. It stays there until the transaction ends. */
export const lockSubOrganization = prepared(
  ({ rootOrganizationId, slug }: { rootOrganizationId: string; slug: string }) =>
    tables
      .selectFrom('organization')
      .select('id')
      .where('parent_id', '=', rootOrganizationId)
      .where('slug', '=', slug)
      .forKeyShare(),
);

/**
 * What a scope can see; for the admin of the installation any root organization. The lock keeps new projects and
 * sub-organizations out: their foreign keys wait for it.
 */
export const lockOrganizationToDelete = prepared((asked: Scope & { id: string; isInstallationAdmin: boolean }) =>
  organizations
    .where('o.id', '=', asked.id)
    .where(sql<boolean>`(${isSeen(asked)} or (${asked.isInstallationAdmin} and o.parent_id is null))`)
    .forUpdate(),
);

/** A row: the organization has projects or sub-organizations. */
export const findContents = prepared(({ id }: { id: string }) =>
  tables
    .selectFrom('organization as o')
    .select('o.id')
    .where('o.id', '=', id)
    .where(
      sql<boolean>`(exists (select from project p where p.organization_id = o.id)
        or exists (select from organization b where b.parent_id = o.id))`,
    ),
);

/** Users with their role in the organization that owns them. */
const users = () =>
  tables
    .selectFrom('app_user as u')
    .innerJoin('organization_membership as m', (join) =>
      join.onRef('m.organization_id', '=', 'u.organization_id').onRef('m.user_id', '=', 'u.id'),
    )
    .select([
      ...columnsIn('u', UserSchema),
      'm.role as roleSlug',
      sql<boolean>`coalesce(now() < m.ends_at, true)`.as('isMember'),
    ]);

/** Users of an organization, in no order. */
export const findUsers = prepared(({ ids, organizationId }: { ids: readonly string[]; organizationId: string }) =>
  users().where('u.id', '=', anyOf(ids)).where('u.organization_id', '=', organizationId),
);

/** A user as services pass it on. */
export type UserView = Awaited<ReturnType<typeof findUsers>>[number];

const ORDER_COLUMNS = { id: 'u.id', name: 'u.username', createdAt: 'u.created_at', updatedAt: 'u.updated_at' };

/** Users of an organization in an order, then by id. */
export const listUsers = inOrders((shape) =>
  prepared((page: OrderedBounds & { organizationId: string }) =>
    users()
      .where('u.organization_id', '=', page.organizationId)
      .$call(pageInOrder(ORDER_COLUMNS, shape, page)),
  ),
);

/** Memberships. Not of groups, and not of identities of projects, which have no name here: these are known in their projects alone. */
const members = tables
  .selectFrom('organization_membership as m')
  .select([
    'm.id',
    sql<Member['kind']>`case when m.user_id is null then 'identity' else 'user' end`.as('memberKind'),
    sql<string>`coalesce(m.user_id, m.identity_id)`.as('memberId'),
    'm.name',
    'm.organization_id as organizationId',
    'm.role as roleSlug',
    'm.ends_at as endsAt',
    'm.created_at as createdAt',
    'm.updated_at as updatedAt',
  ])
  .where('m.name', '<>', sql.lit(''));

/** Memberships of an organization and, if asked for, of those below it. */
export const findMembers = prepared(
  ({ ids, organizationId, isBelowToo }: { ids: readonly string[]; organizationId: string; isBelowToo: boolean }) =>
    members.where('m.id', '=', anyOf(ids)).where(
      sql<boolean>`(m.organization_id = ${organizationId} or ${isBelowToo}
        and exists (select from organization o where o.id = m.organization_id and o.parent_id = ${organizationId}))`,
    ),
);

const MEMBER_ORDER_COLUMNS = { id: 'm.id', name: 'm.name', createdAt: 'm.created_at', updatedAt: 'm.updated_at' };

/** The members of an organization in an order. */
export const listMembers = inOrders((shape) =>
  prepared((page: OrderedBounds & { organizationId: string }) =>
    members.where('m.organization_id', '=', page.organizationId).$call(pageInOrder(MEMBER_ORDER_COLUMNS, shape, page)),
  ),
);

/** How many members organizations have. */
export const countMembersOfOrganizations = prepared(({ organizationIds }: { organizationIds: readonly string[] }) =>
  members
    .clearSelect()
    .select(['m.organization_id as organizationId', sql<number>`count(*)::integer`.as('count')])
    .where('m.organization_id', '=', anyOf(organizationIds))
    .groupBy('m.organization_id'),
);
