import { type Action, authorize, can, PermissionDenied, type Rule, rulesOf } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { AppError } from '../../kernel/errors.js';
import { mapInSlices } from '../../kernel/slices.js';
import {
  type Assigned,
  type Assignee,
  isBuiltInOfOrganization,
  mayAssign,
  mayAssignTo,
  ORGANIZATION_VOCABULARY,
  projectRights,
  readRulesText,
  readStoredRules,
  rightsBeyond,
  rightsBeyondChange,
  rulesOfOrganizationRoles,
} from '../permissions/public.js';

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
export function authorizeGiving(
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
      (slug): Assigned => ({
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

/**
 * Nobody deletes an account with a role that allows, or forbids, more than the caller may, in any organization. Its organizations
 * are locked.
 *
 * @param action what the caller does, for the audit record of a refusal
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeAccountDeletion(
  tx: Transaction,
  { kind, id }: { readonly kind: 'user' | 'identity'; readonly id: string },
  action: Action,
): Promise<void> {
  const held = await query<{ slug: string; permissions: string | null }>(
    tx,
    `select distinct m.role as slug, r.permissions::text from organization_membership m
     left join organization_role r on r.organization_id = m.organization_id and r.slug = m.role where m.${kind}_id = $1`,
    [id],
  );
  const beyond = held.flatMap(({ slug, permissions }) =>
    rightsBeyondChange(
      tx.ability,
      rulesOfOrganizationRoles([slug], [readRulesText(permissions, ORGANIZATION_VOCABULARY)]),
      [],
    ),
  );
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, [...new Set(beyond)]);
}

/** Its roles right now in an organization and those below it, by organization, its own membership's first. */
const ROLES_NOW = `select n.organization_id as "organizationId", n.role, r.permissions::text from organization_member_now n
  left join organization_role r on r.organization_id = n.organization_id and r.slug = n.role
  where n.organization_id in (select o.id from organization o where o.id = $1 or o.parent_id = $1) and n.member_id = $2
  order by n.organization_id, n.group_id is not null, n.created_at, n.id`;

interface HeldRole {
  readonly organizationId: string;
  readonly role: string;
  /** JSON text; null for a role that is built in. */
  readonly permissions: string | null;
}

/** Whose credential is made. */
interface Account {
  readonly id: string;
  /** The project that owns it, for the audit record of a refusal; absent or null: it is of the organization. */
  readonly projectId?: string | null;
}

/**
 * Whoever makes a credential of somebody else has all rights of that account: nobody makes one of an account that may do more than
 * the caller in the organization or in any of its projects, or in an organization below it and its projects: a credential of the
 * organization reaches these too. A refusal names the rights that are missing, not where.
 *
 * @param action what the caller does: for the audit record of a refusal
 * @throws PERMISSION_BOUNDARY
 * Source: behaviour 3 (Permission).
 */
export async function authorizeActingAs(tx: Transaction, account: Account, action: Action): Promise<void> {
  if (tx.actor.id === account.id.toLowerCase()) return;
  const held = await query<HeldRole>(tx, ROLES_NOW, [tx.organizationId, account.id]);
  const inOrganizations = [...Map.groupBy(held, ({ organizationId }) => organizationId).values()].flatMap((roles) =>
    rightsBeyond(tx.ability, rulesOfHeld(roles)),
  );
  const beyond = [...new Set([...inOrganizations, ...(await beyondInProjects(tx, account.id))])];
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: account.projectId ?? null }, beyond);
}

const rulesOfHeld = (held: readonly HeldRole[]): Rule[] =>
  rulesOfOrganizationRoles(
    held.map(({ role }) => role),
    held
      .filter(({ role }) => !isBuiltInOfOrganization(role))
      .map(({ permissions }) => readRulesText(permissions, ORGANIZATION_VOCABULARY)),
  );

const NO_RIGHTS = projectRights({ roles: [], storedRules: null }).ability;

/** What an account may do in projects, by itself, through groups and by privileges, and the caller may not. */
async function beyondInProjects(tx: Transaction, memberId: string): Promise<Action[]> {
  const held = await tx.accessesOf(tx, memberId, null);
  const ids = held.map(({ projectId }) => projectId);
  const accesses = ids.length === 0 ? [] : await tx.accessesOf(tx, tx.actor.id, ids);
  const own = new Map(accesses.map(({ projectId, ability }) => [projectId, ability]));
  const beyond = await mapInSlices(held, ({ projectId, ability }) =>
    rightsBeyond(own.get(projectId) ?? NO_RIGHTS, rulesOf(ability)),
  );
  return beyond.flat();
}

/** Held until the transaction ends: a role is not changed at the same moment. */
async function rulesBySlug(
  tx: Transaction,
  organizationId: string,
  slugs: readonly string[],
): Promise<Map<string, readonly Rule[]>> {
  const rows = await query<{ slug: string; permissions: unknown }>(
    tx,
    'select slug, permissions from organization_role where organization_id = $1 and slug = any($2::text[]) for share',
    [organizationId, [...slugs]],
  );
  return new Map(rows.map(({ slug, permissions }) => [slug, readStoredRules(permissions, ORGANIZATION_VOCABULARY)]));
}
