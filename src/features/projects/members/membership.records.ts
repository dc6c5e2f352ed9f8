import type { Context, Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { orderedText } from '../../../kernel/database/ordered-page.js';
import { isId } from '../../../kernel/ids.js';
import type { ListOrder, OrderedBounds } from '../../../kernel/list-order.js';
import { isStorable } from '../../../kernel/text-rules.js';
import { MEMBER_KINDS, type MemberKind, type MemberNames } from './membership.rules.js';
import { type HeldRole, heldRoles, type RoleTerms } from './role-terms.rules.js';

/** A membership with the name of its member. */
export interface MembershipRecord extends MemberNames {
  readonly id: string;
  readonly projectId: string;
  readonly memberKind: MemberKind;
  readonly roleSlugs: string[];
  readonly roleTerms: RoleTerms | null;
  readonly roleAssignments: readonly HeldRole[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface MembershipRow extends Omit<MembershipRecord, 'roleAssignments'> {
  /** Slugs of the roles that are active now. */
  readonly activeSlugs: string[];
}

const KIND = `case when m.user_id is not null then 'user' when m.identity_id is not null then 'identity' else 'group' end`;
const NAME = 'coalesce(u.username, i.name, g.name)';

const SELECT = `select m.id, m.project_id as "projectId", ${KIND} as "memberKind",
    coalesce(m.user_id, m.identity_id, m.group_id) as "memberId", ${NAME} as name, g.slug as "groupSlug",
    m.roles as "roleSlugs", m.role_terms as "roleTerms",
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end as "activeSlugs",
    m.created_at as "createdAt", m.updated_at as "updatedAt"
  from project_membership m left join app_user u on u.id = m.user_id left join identity i on i.id = m.identity_id
    left join member_group g on g.id = m.group_id`;

const ORDER = `order by ${NAME} collate "C", m.id`;

const ONE = {
  user: `${SELECT} where m.project_id = $1 and m.user_id = $2`,
  identity: `${SELECT} where m.project_id = $1 and m.identity_id = $2`,
  group: `${SELECT} where m.project_id = $1 and m.group_id = $2`,
} as const satisfies Record<MemberKind, string>;

const ORDER_COLUMNS = { id: 'm.id', name: NAME, createdAt: 'm.created_at', updatedAt: 'm.updated_at' };
const ORDER_PARAMS = { value: '$3', id: '$4', since: '$5', limit: '$6' };

/** Id of the member that a membership, $2, of a project, $3, is of; else the id that was given. */
const memberOf = (column: string): string =>
  `coalesce((select m.${column} from project_membership m where m.id = $2 and m.project_id = $3), $2)`;

/** Who of the organization, $1, has the id $2, or the membership in the project, $3. */
const BY_ID = {
  user: `select u.id as "memberId", u.username as name, null as "groupSlug" from app_user u
    join organization_membership om on om.user_id = u.id and om.organization_id = $1 where u.id = ${memberOf('user_id')}`,
  identity: `select i.id as "memberId", i.name, null as "groupSlug" from identity i
    join organization_membership om on om.identity_id = i.id and om.organization_id = $1 where i.id = ${memberOf('identity_id')}`,
  group: `select g.id as "memberId", g.name, g.slug as "groupSlug" from member_group g
    join organization_membership om on om.group_id = g.id and om.organization_id = $1 where g.id = ${memberOf('group_id')}`,
} as const satisfies Record<MemberKind, string>;

/** The same by a name, $2: a user by its username, of the organization or else of the root above it, $3; a group by its slug, or by a name that no other has. */
const BY_NAME = {
  user: `select u.id as "memberId", u.username as name, null as "groupSlug" from app_user u
    join organization_membership om on om.user_id = u.id and om.organization_id = $1
    where u.organization_id in ($1, $3) and u.username = $2 order by u.organization_id = $1 desc limit 1`,
  group: `select g.id as "memberId", g.name, g.slug as "groupSlug" from member_group g
    join organization_membership om on om.group_id = g.id and om.organization_id = $1 and om.organization_id in ($1, $3)
    where g.slug = $2 or (g.name = $2 and not exists (
      select 1 from organization_membership n join member_group o on o.id = n.group_id
      where n.organization_id = $1 and o.id <> g.id and o.name = $2))
    order by g.slug = $2 desc limit 1`,
} as const;

const OF_USERS = `${SELECT} where m.project_id = $1 and m.user_id = any($2::uuid[]) ${ORDER}`;

const USERS_BY_NAME = `select distinct on (u.username) u.username, u.id
  from app_user u join organization_membership om on om.user_id = u.id and om.organization_id = $1
  where u.organization_id in ($1, $2) and u.username = any($3::text[])
  order by u.username, u.organization_id = $1 desc`;

const BY_IDS = `${SELECT} where m.id = any($1::uuid[]) and m.organization_id = $2`;

const OF_MEMBERS = `${SELECT} where (m.user_id = any($1::uuid[]) or m.identity_id = any($1::uuid[]) or m.group_id = any($1::uuid[])) and m.organization_id = $2
  order by m.id`;

const OF_PROJECTS = `${SELECT} where m.project_id = any($1::uuid[]) ${ORDER}`;

const COUNTS = `select m.project_id as "projectId", ${KIND} as "memberKind", count(*)::integer as count
  from project_membership m where m.project_id = any($1::uuid[]) group by 1, 2`;

interface MembersOfKind {
  readonly memberKind: MemberKind;
  readonly count: number;
}

/** One membership; undefined when there is none. */
export async function findMembership(
  ctx: Context,
  projectId: string,
  kind: MemberKind,
  memberId: string,
): Promise<MembershipRecord | undefined> {
  const [row] = await query<MembershipRow>(ctx, ONE[kind], [projectId, memberId]);
  return row && toRecord(row);
}

/**
 * IDs of users who belong to the organization of the caller's scope, by username: its own, or of the root organization.
 * Unknown usernames are left out.
 */
export async function findUserIds(tx: Transaction, usernames: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ id: string; username: string }>(tx, USERS_BY_NAME, [
    tx.organizationId,
    tx.rootOrganizationId,
    [...usernames],
  ]);
  return new Map(rows.map(({ id, username }) => [username, id]));
}

/** Memberships of some users, by name, then ID. */
export async function membershipsOfUsers(
  ctx: Context,
  projectId: string,
  userIds: readonly string[],
): Promise<MembershipRecord[]> {
  return (await query<MembershipRow>(ctx, OF_USERS, [projectId, [...userIds]])).map(toRecord);
}

/** Memberships of a project in an order, then by ID. @param kind null: all kinds */
export async function listMemberships(
  ctx: Context,
  { projectId, kind, order }: { projectId: string; kind: MemberKind | null; order: ListOrder },
  { value, id, since, limit }: OrderedBounds,
): Promise<MembershipRecord[]> {
  const { condition, rest } = orderedText(ORDER_COLUMNS, order, ORDER_PARAMS);
  const text = `${SELECT} where m.project_id = $1 and ($2::text is null or $2 = ${KIND}) and ${condition} ${rest}`;
  return (await query<MembershipRow>(ctx, text, [projectId, kind, value, id, since, limit])).map(toRecord);
}

/** How many members of each kind projects have, by project. For `batched`. */
export async function countsOfMembers(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly MembersOfKind[]>> {
  const rows = await query<MembersOfKind & { projectId: string }>(ctx, COUNTS, [[...projectIds]]);
  return Map.groupBy(rows, ({ projectId }) => projectId);
}

/** Memberships by ID, in no order. */
export const membershipsByIds = async (ctx: Context, ids: readonly string[]): Promise<MembershipRecord[]> =>
  (await query<MembershipRow>(ctx, BY_IDS, [[...ids], ctx.organizationId])).map(toRecord);

/** Memberships of many users, identities and groups in the organization of the caller's scope, by ID. */
export const membershipsOfMembers = async (ctx: Context, memberIds: readonly string[]): Promise<MembershipRecord[]> =>
  (await query<MembershipRow>(ctx, OF_MEMBERS, [[...memberIds], ctx.organizationId])).map(toRecord);

/** Memberships of many projects in one statement, each list by name, then ID. For `batched`. */
export async function membershipsOfProjects(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, MembershipRecord[]>> {
  const rows = await query<MembershipRow>(ctx, OF_PROJECTS, [[...projectIds]]);
  return Map.groupBy(rows.map(toRecord), ({ projectId }) => projectId);
}

/**
 * The member of the organization that a request names; undefined when there is none.
 *
 * @param named its ID, or that of its membership; for a user also its username, for a group its slug or name
 */
export async function findMember(
  ctx: Context,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string },
  kind: MemberKind,
  named: string,
): Promise<MemberNames | undefined> {
  if (isId(named)) {
    const [row] = await query<MemberNames>(ctx, BY_ID[kind], [organizationId, named, projectId]);
    // A group may have what looks like an id as its slug.
    if (row !== undefined || kind !== 'group') return row;
  }
  if (kind === 'identity' || !isStorable(named)) return undefined;
  const [row] = await query<MemberNames>(ctx, BY_NAME[kind], [organizationId, named, ctx.rootOrganizationId]);
  return row;
}

/** The current time of the database. */
export async function databaseNow(tx: Transaction): Promise<Date> {
  const [row] = await query<{ now: string }>(tx, 'select now() as now', []);
  return new Date((row as { now: string }).now);
}

/** Of some users, $2, identities, $3, and groups, $4, in a project, $1. */
const BESIDES = `with own as (select id from project_membership
      where project_id = $1 and (user_id = any($2::uuid[]) or identity_id = any($3::uuid[]) or group_id = any($4::uuid[]))),
    holder as (select unnest($2::uuid[] || $3::uuid[]) as id
      union all select coalesce(user_id, identity_id) from group_member where group_id = any($4::uuid[]))
  select exists (
      select 1 from holder join project_membership o on o.project_id = $1 left join group_member g on g.group_id = o.group_id
      where holder.id in (o.user_id, o.identity_id, g.user_id, g.identity_id)
        and not exists (select 1 from own where own.id = o.id)) as "hasMore",
    (select json_agg(v.permissions order by v.created_at, v.id) from additional_privilege v
     where v.membership_id in (select id from own)) as privileges`;

/** What members have in a project besides the roles of a membership. */
export interface BesidesRoles {
  /** One of them has roles of another membership; for a group, one of its members has. */
  readonly hasMore: boolean;
  /** The stored rules of each privilege of their memberships; null for none. */
  readonly privileges: readonly unknown[] | null;
}

/** What some members have in a project besides the roles of a membership. */
export async function besidesRoles(
  tx: Transaction,
  projectId: string,
  members: readonly { readonly kind: MemberKind; readonly id: string }[],
): Promise<BesidesRoles> {
  const idsOf = (wanted: MemberKind) => members.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  const [row] = await query<BesidesRoles>(tx, BESIDES, [projectId, ...MEMBER_KINDS.map(idsOf)]);
  return row as BesidesRoles;
}

const toRecord = ({ activeSlugs, ...row }: MembershipRow): MembershipRecord => ({
  ...row,
  roleAssignments: heldRoles(row.projectId, { slugs: row.roleSlugs, terms: row.roleTerms }, activeSlugs),
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
