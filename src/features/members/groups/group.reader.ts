import { type Action, authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { Group } from './group.entity.js';
import {
  findGroups,
  findLinks,
  type GroupInOrganizationRow,
  type GroupRow,
  listGroupsOfMembers,
  listLinks,
} from './group.queries.js';

/** Rules can be about groups of some slugs only. */
export const mayRead = (ctx: Context, groupSlug: string): boolean => can(ctx.ability, 'groups:read', { groupSlug });

/**
 * A group of the caller's organization, or one that is linked to it, for who may do this to it. Only the organization that
 * owns a group changes it.
 *
 * @throws PERMISSION_DENIED; GROUP_NOT_FOUND also for one that the caller may not read
 */
export async function loadGroup(ctx: Context, id: string, action: Action): Promise<GroupRow> {
  const { organizationId } = ctx;
  authorize(ctx, action);
  const [group] = isId(id) ? await findGroups(ctx, { organizationId, ids: [id] }) : [];
  if (group === undefined) throw new AppError('GROUP_NOT_FOUND');
  const isAllowed = can(ctx.ability, action, { groupSlug: group.slug });
  if (!isAllowed && !mayRead(ctx, group.slug)) throw new AppError('GROUP_NOT_FOUND');
  if (!isAllowed || (action !== 'groups:read' && group.organizationId !== organizationId))
    throw new PermissionDenied({ action, projectId: null });
  return group;
}

/**
 * The same of a group that nobody else changes until the transaction ends: it gets no members, and no further roles.
 *
 * @throws PERMISSION_DENIED, GROUP_NOT_FOUND
 */
export async function lockGroup(tx: Transaction, id: string, action: Action): Promise<{ row: GroupRow; group: Group }> {
  const { organizationId } = tx;
  await loadGroup(tx, id, action);
  const group = await lockRow(tx, Group, { id, organizationId }, 'GROUP_NOT_FOUND');
  // Again: it may have waited for somebody who changed it.
  return { group, row: await loadGroup(tx, id, action) };
}

/** Groups that responses lead to by their ids: those that the caller may read. @throws PERMISSION_DENIED */
export const groupsByIds: BatchLoad<GroupRow> = async (ctx, ids) => {
  authorize(ctx, 'groups:read');
  const rows = await findGroups(ctx, { organizationId: ctx.organizationId, ids });
  return new Map(rows.filter(({ slug }) => mayRead(ctx, slug)).map((row) => [row.id, row]));
};

/** Groups of users and identities, by name: those that the caller may read. @throws PERMISSION_DENIED */
export const groupsOfMembers: BatchLoad<readonly GroupRow[]> = async (ctx, memberIds) => {
  authorize(ctx, 'groups:read');
  const rows = await listGroupsOfMembers(ctx, { organizationId: ctx.organizationId, memberIds });
  return Map.groupBy(
    rows.filter(({ slug }) => mayRead(ctx, slug)),
    ({ memberId }) => memberId,
  );
};

/** Those below the organization of the caller are for who may change sub-organizations. */
const reachOf = (ctx: Context): { organizationId: string; below: boolean } => ({
  organizationId: ctx.organizationId,
  below: can(ctx.ability, 'sub-organization:edit'),
});

/** What groups are in organizations, by the ids of these memberships. @throws PERMISSION_DENIED */
export const relationsByIds: BatchLoad<GroupInOrganizationRow> = async (ctx, ids) => {
  authorize(ctx, 'groups:read');
  const rows = await findLinks(ctx, { ...reachOf(ctx), ids });
  return new Map(rows.filter(({ groupSlug }) => mayRead(ctx, groupSlug)).map((row) => [row.id, row]));
};

/** What groups that were read are in organizations, by the ids of the groups. @throws PERMISSION_DENIED */
export const linksOfGroups: BatchLoad<readonly GroupInOrganizationRow[]> = async (ctx, groupIds) => {
  authorize(ctx, 'groups:read');
  const rows = await listLinks(ctx, { ...reachOf(ctx), groupIds });
  return Map.groupBy(rows, ({ groupId }) => groupId);
};
