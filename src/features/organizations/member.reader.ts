import { authorize, can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { query } from '../../kernel/database/database.js';
import type { Member } from './memberships.js';

/** A member of an organization as services pass it on. */
export interface MemberView {
  readonly id: string;
  readonly memberKind: Member['kind'];
  readonly memberId: string;
  readonly name: string;
  readonly organizationId: string;
  readonly roleSlug: string;
  readonly endsAt: Date | null;
}

/** A member as it is read: with the times of the membership. */
export interface MemberRow extends MemberView {
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The start of every statement that reads members of organizations; `m` is the membership. */
export const SELECT_MEMBER = `select m.id, case when m.user_id is null then 'identity' else 'user' end as "memberKind",
    coalesce(m.user_id, m.identity_id) as "memberId", coalesce(u.username, i.name) as name,
    m.organization_id as "organizationId", m.role as "roleSlug", m.ends_at as "endsAt",
    m.created_at as "createdAt", m.updated_at as "updatedAt"
  from organization_membership m left join app_user u on u.id = m.user_id left join identity i on i.id = m.identity_id`;

/** Not groups, and not identities of projects: these are members in name only, and known in their projects alone. */
export const IS_LISTED = '(m.group_id is null and i.project_id is null)';

/** A row, whose times are texts, as a view. */
export const toMemberView = (row: MemberRow): MemberRow => ({
  ...row,
  endsAt: row.endsAt === null ? null : new Date(row.endsAt),
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});

/** How many members organizations have, by their ids. */
export const countMembers: BatchLoad<number> = async (ctx, organizationIds) => {
  const rows = await query<{ organizationId: string; count: number }>(
    ctx,
    `select m.organization_id as "organizationId", count(*)::integer as count
     from organization_membership m left join identity i on i.id = m.identity_id
     where m.organization_id = any($1::uuid[]) and ${IS_LISTED} group by 1`,
    [organizationIds],
  );
  return new Map(rows.map(({ organizationId, count }) => [organizationId, count]));
};

/** Memberships by id, for who may read members. @throws PERMISSION_DENIED */
export const membersByIds: BatchLoad<MemberView> = async (ctx, ids) => {
  authorize(ctx, 'member:read');
  return membersInScope(ctx, ids);
};

/** Memberships by id: of the caller's organization and, for who may edit them, of its sub-organizations. */
export async function membersInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, MemberView>> {
  const rows = await query<MemberRow>(
    ctx,
    `${SELECT_MEMBER} where ${IS_LISTED} and m.id = any($1::uuid[]) and (m.organization_id = $2
       or $3 and exists (select from organization o where o.id = m.organization_id and o.parent_id = $2))`,
    [ids, ctx.organizationId, can(ctx.ability, 'sub-organization:edit')],
  );
  return new Map(rows.map((row) => [row.id, toMemberView(row)]));
}
