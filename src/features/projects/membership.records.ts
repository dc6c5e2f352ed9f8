import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import type { NameBounds } from '../../kernel/paging.js';
import type { MemberKind } from './membership.rules.js';

/** A membership with the name of its member. */
export interface MembershipRecord {
  readonly id: string;
  readonly projectId: string;
  readonly memberKind: MemberKind;
  readonly memberId: string;
  readonly name: string;
  readonly roleSlugs: string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const SELECT = `select m.id, m.project_id as "projectId", case when m.user_id is null then 'identity' else 'user' end as "memberKind",
    coalesce(m.user_id, m.identity_id) as "memberId", coalesce(u.username, i.name) as name, m.roles as "roleSlugs",
    m.created_at as "createdAt", m.updated_at as "updatedAt"
  from project_membership m left join app_user u on u.id = m.user_id left join identity i on i.id = m.identity_id`;

const ORDER = `order by coalesce(u.username, i.name) collate "C", m.id`;

const ONE = {
  user: `${SELECT} where m.project_id = $1 and m.user_id = $2`,
  identity: `${SELECT} where m.project_id = $1 and m.identity_id = $2`,
} as const satisfies Record<MemberKind, string>;

const LIST = `${SELECT} where m.project_id = $1 and ($2::text is null or $2 = case when m.user_id is null then 'identity' else 'user' end)
    and ($3::text is null or (coalesce(u.username, i.name) collate "C", m.id) > ($3::text collate "C", $4::uuid))
  ${ORDER} limit $5`;

const OF_USERS = `${SELECT} where m.project_id = $1 and m.user_id = any($2::uuid[]) ${ORDER}`;

const USERS_BY_NAME = `select distinct on (u.username) u.username, u.id
  from app_user u join organization_membership om on om.user_id = u.id and om.organization_id = $1
  where u.organization_id in ($1, $2) and u.username = any($3::text[])
  order by u.username, u.organization_id = $1 desc`;

const BY_IDS = `${SELECT} where m.id = any($1::uuid[]) and m.organization_id = $2`;

const OF_MEMBERS = `${SELECT} where (m.user_id = any($1::uuid[]) or m.identity_id = any($1::uuid[])) and m.organization_id = $2
  order by m.id`;

const OF_PROJECTS = `${SELECT} where m.project_id = any($1::uuid[]) ${ORDER}`;

/** One membership; undefined when the user or identity is no member. */
export async function findMembership(
  ctx: Context,
  projectId: string,
  kind: MemberKind,
  memberId: string,
): Promise<MembershipRecord | undefined> {
  const [row] = await query<MembershipRecord>(ctx, ONE[kind], [projectId, memberId]);
  return row && toRecord(row);
}

/**
 * Ids of users who belong to the organization of the caller's scope, by username: its own, or of the root organization.
 * Whoever is not there is left out.
 */
export async function findUserIds(tx: Transaction, usernames: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ id: string; username: string }>(tx, USERS_BY_NAME, [
    tx.organizationId,
    tx.rootOrganizationId,
    [...usernames],
  ]);
  return new Map(rows.map(({ id, username }) => [username, id]));
}

/** Memberships of some users, by name, then id. */
export async function membershipsOfUsers(
  ctx: Context,
  projectId: string,
  userIds: readonly string[],
): Promise<MembershipRecord[]> {
  return (await query<MembershipRecord>(ctx, OF_USERS, [projectId, [...userIds]])).map(toRecord);
}

/** Memberships of a project by name, then id. @param kind null: both kinds */
export async function listMemberships(
  ctx: Context,
  projectId: string,
  kind: MemberKind | null,
  { name, id, limit }: NameBounds,
): Promise<MembershipRecord[]> {
  return (await query<MembershipRecord>(ctx, LIST, [projectId, kind, name, id, limit])).map(toRecord);
}

/** Memberships by id, in no order. */
export const membershipsByIds = async (ctx: Context, ids: readonly string[]): Promise<MembershipRecord[]> =>
  (await query<MembershipRecord>(ctx, BY_IDS, [[...ids], ctx.organizationId])).map(toRecord);

/** Memberships of many users and identities in the organization of the caller's scope, by id. */
export const membershipsOfMembers = async (ctx: Context, memberIds: readonly string[]): Promise<MembershipRecord[]> =>
  (await query<MembershipRecord>(ctx, OF_MEMBERS, [[...memberIds], ctx.organizationId])).map(toRecord);

/** Memberships of many projects in one statement, each list by name, then id. For `batched`. */
export async function membershipsOfProjects(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, MembershipRecord[]>> {
  const rows = await query<MembershipRecord>(ctx, OF_PROJECTS, [[...projectIds]]);
  return Map.groupBy(rows.map(toRecord), ({ projectId }) => projectId);
}

const toRecord = (row: MembershipRecord): MembershipRecord => ({
  ...row,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
