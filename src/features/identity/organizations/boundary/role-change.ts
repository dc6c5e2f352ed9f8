import { LockMode } from '@mikro-orm/core';
import { type Action, authorize, can, PermissionDenied, type Rule } from '../../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { AppError } from '../../../../kernel/errors.js';
import {
  type AssignableRights,
  type Assignee,
  isBuiltInOfOrganization,
  mayAssign,
  mayAssignTo,
  ORGANIZATION_VOCABULARY,
  readStoredRules,
  rightsBeyondChange,
  rulesOfOrganizationRoles,
} from '../../permissions/public.js';
import { OrganizationRole } from '../core/organization-role.entity.js';

/** The role that gives nothing. */
const NO_ACCESS = 'no-access';

interface RoleChange {
  /** The organization that the roles are of. */
  readonly organizationId: string;
  /** What the caller does: for the audit record of a refusal. */
  readonly action: Action;
  /** Slugs of the roles; absent or null: none. */
  readonly before?: string | null;
  readonly after?: string | null;
  /** Whose roles they are, where the caller may do no more than hand roles on to it. */
  readonly handedTo?: Assignee | null;
}

/**
 * By which right a caller gives a member of the organization another role: that to change it, or else that to hand on each role
 * that changes hands.
 *
 * @param action to change the member
 * @returns the member, for `authorizeRoleChange`, where the second is needed; null otherwise
 * @throws PERMISSION_DENIED for who has neither
 */
export function authorizeRoleGrant(
  ctx: Context,
  action: 'member:edit' | 'identity:edit' | 'groups:edit',
  assignee: Assignee,
): Assignee | null {
  const mayHandOn = !can(ctx.ability, action, assignee.fields) && mayAssignTo(ctx.ability, assignee, 'assign-role');
  if (!mayHandOn) authorize(ctx, action, assignee.fields);
  return mayHandOn ? assignee : null;
}

/**
 * Nobody gives a role that allows, or forbids, more than the caller may, nor takes one: what a role forbids, its holder may have
 * of another.
 *
 * @throws ROLE_NOT_FOUND for a role to be given that the organization does not have, PERMISSION_BOUNDARY; PERMISSION_DENIED for one
 *   that the caller may not hand on
 */
export async function authorizeRoleChange(
  tx: Transaction,
  { organizationId, action, before = null, after = null, handedTo = null }: RoleChange,
): Promise<void> {
  const slugs = [before, after].filter((slug) => slug !== null);
  const own = slugs.filter((slug) => !isBuiltInOfOrganization(slug));
  const rules = own.length === 0 ? new Map<string, readonly Rule[]>() : await rulesBySlug(tx, organizationId, own);
  // Without a role there is nothing to hand on: `no-access` is what every member starts from.
  const handed = slugs
    .filter((slug) => slug !== NO_ACCESS)
    .map(
      (slug): AssignableRights => ({
        verb: 'assign-role',
        role: slug,
        rules: rulesOfOrganizationRoles([slug], [rules.get(slug) ?? []]),
      }),
    );
  if (handedTo !== null && !handed.every((each) => mayAssign(tx.ability, handedTo, each)))
    throw new PermissionDenied({ action: `${handedTo.subject}:assign-role`, projectId: null });
  if (after !== null && own.includes(after) && !rules.has(after)) throw new AppError('ROLE_NOT_FOUND');
  const beyond = slugs.flatMap((slug) =>
    rightsBeyondChange(tx.ability, rulesOfOrganizationRoles([slug], [rules.get(slug) ?? []]), []),
  );
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, [...new Set(beyond)]);
}

async function rulesBySlug(
  tx: Transaction,
  organizationId: string,
  slugs: readonly string[],
): Promise<Map<string, readonly Rule[]>> {
  // Held until the transaction ends: a role is not changed at the same moment.
  const locked = { lockMode: LockMode.PESSIMISTIC_READ } as const;
  const rows = await tx.em.find(OrganizationRole, { organizationId, slug: { $in: [...slugs] } }, locked);
  return new Map(rows.map(({ slug, permissions }) => [slug, readStoredRules(permissions, ORGANIZATION_VOCABULARY)]));
}
