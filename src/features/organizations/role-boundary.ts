import { type Ability, type Action, authorize, can, PermissionDenied, type Rule } from '../../kernel/authz/ability.js';
import type { Conditions } from '../../kernel/authz/conditions.js';
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
  organizationRights,
  projectRights,
  readRulesText,
  readStoredRules,
  rightsBeyond,
  rightsBeyondChange,
  rulesAsText,
  rulesAtAnyTime,
  rulesOfOrganizationRoles,
  selectsOtherwise,
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
 * Nobody deletes an account with a role that allows, or forbids, more than the caller may, in any organization, by itself or
 * through a group. Its organizations are locked. What it may do in projects: `authorizeProjectLoss`.
 *
 * @param action what the caller does, for the audit record of a refusal
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeAccountDeletion(
  tx: Transaction,
  { kind, id }: { readonly kind: 'user' | 'identity'; readonly id: string },
  action: Action,
): Promise<void> {
  const beyondIn = await boundaryOfCaller(tx);
  const held = await query<{ organizationId: string; slug: string; permissions: string | null }>(
    tx,
    `select m.organization_id as "organizationId", m.role as slug, r.permissions::text from organization_membership m
     left join organization_role r on r.organization_id = m.organization_id and r.slug = m.role
     where m.${kind}_id = $1 or m.group_id in (select g.group_id from group_member g where g.${kind}_id = $1)`,
    [id],
  );
  const beyond = held.flatMap(({ organizationId, slug, permissions }) => {
    const rules = rulesOfOrganizationRoles([slug], [readRulesText(permissions, ORGANIZATION_VOCABULARY)]);
    return beyondIn(organizationId, (own) => rightsBeyondChange(own, rules, []));
  });
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, [...new Set(beyond)]);
}

/**
 * Whoever may let an admin into any project may take from anybody what is in the wrong hands, whatever it may do in projects: a
 * token that leaked, the account of somebody who left.
 */
const mayTakeFromProjects = ({ ability }: Context): boolean => can(ability, 'workspace:rescue');

/**
 * Nobody takes an account out of projects in which it may do more than the caller, at any time, but for who may rescue projects.
 * Everybody may leave them.
 *
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeProjectLoss(tx: Transaction, memberId: string, action: Action): Promise<void> {
  if (memberId === tx.actor.id || mayTakeFromProjects(tx)) return;
  const beyond = (await beyondInProjects(tx, [memberId])).get(memberId) ?? [];
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, [...new Set(beyond)]);
}

/** Roles that accounts have right now in an organization and those below it, of their own memberships first. */
const ROLES_NOW = `select n.organization_id as "organizationId", n.member_id as "memberId", n.role, r.permissions::text,
    m.ends_at as "endsAt"
  from organization_member_now n join organization_membership m on m.id = n.id
  left join organization_role r on r.organization_id = n.organization_id and r.slug = n.role
  where n.organization_id in (select o.id from organization o where o.id = $1 or o.parent_id = $1) and n.member_id = any($2::uuid[])
  order by n.organization_id, n.member_id, n.group_id is not null, n.created_at, n.id`;

interface HeldRole {
  readonly organizationId: string;
  readonly memberId: string;
  readonly role: string;
  /** JSON text; null for a role that is built in. */
  readonly permissions: string | null;
  /** When its membership ends; null: never. */
  readonly endsAt: string | null;
}

/** Whose credential is made, changed or taken away. */
interface Account {
  readonly id: string;
  /** The project that owns it, for the audit record of a refusal; absent or null: it is of the organization. */
  readonly projectId?: string | null;
}

/**
 * Whoever makes a credential of somebody else has all rights of that account, and whoever takes one away takes them: nobody makes,
 * changes or takes one of an account that may do more than the caller in the organization or in any of its projects, or in an
 * organization below it and its projects: a credential of the organization reaches these too. Everybody may do so for itself, and
 * who may rescue projects takes credentials away whatever there is in projects. A refusal names the rights that are missing, not where.
 *
 * @param action what the caller does: for the audit record of a refusal
 * @throws PERMISSION_BOUNDARY
 * Source: behaviour 3 (Permission).
 */
export async function authorizeActingAs(tx: Transaction, account: Account, action: Action): Promise<void> {
  const id = account.id.toLowerCase();
  const beyond = (await rightsBeyondCaller(tx, [id], action)).get(id);
  if (beyond !== undefined) throw new PermissionDenied({ action, projectId: account.projectId ?? null }, beyond);
}

/** What takes credentials away, and neither makes nor changes any. */
const TAKING: ReadonlySet<Action> = new Set(['identity:delete-token', 'identity:revoke-auth']);

/**
 * What accounts may do that the caller may not, by their ids in lower case: of those that may do more. The caller itself never does.
 * Three statements, however many there are.
 */
export async function rightsBeyondCaller(
  tx: Transaction,
  ids: readonly string[],
  action: Action,
): Promise<ReadonlyMap<string, readonly Action[]>> {
  const others = [...new Set(ids)].filter((id) => id !== tx.actor.id);
  if (others.length === 0) return new Map();
  const roles = Map.groupBy(await rolesNow(tx, [...others, tx.actor.id]), ({ memberId }) => memberId);
  const beyondIn = boundaryOf(tx, roles.get(tx.actor.id) ?? []);
  const isExempt = TAKING.has(action) && mayTakeFromProjects(tx);
  const inProjects = isExempt ? new Map<string, Action[]>() : await beyondInProjects(tx, others);
  const beyond = others.map((id): [string, Action[]] => {
    const inOrganizations = Map.groupBy(roles.get(id) ?? [], ({ organizationId }) => organizationId);
    const above = [...inOrganizations].flatMap(([organizationId, held]) =>
      beyondIn(organizationId, (own) => rightsBeyond(own, rulesOfHeld(held))),
    );
    return [id, [...new Set([...above, ...(inProjects.get(id) ?? [])])]];
  });
  return new Map(beyond.filter(([, actions]) => actions.length > 0));
}

const rolesNow = (tx: Transaction, memberIds: readonly string[]): Promise<HeldRole[]> =>
  query<HeldRole>(tx, ROLES_NOW, [tx.organizationId, memberIds]);

/** What goes beyond the caller's rights in its organization or in one below it. */
export type BeyondIn = (organizationId: string, compare: (own: Ability) => readonly Action[]) => readonly Action[];

/** The caller's rights in its organization and in those below it, to compare with. */
export const boundaryOfCaller = async (tx: Transaction): Promise<BeyondIn> =>
  boundaryOf(tx, await rolesNow(tx, [tx.actor.id]));

/**
 * In an organization below, rights are those of the caller's roles there. Whoever may change sub-organizations gives itself any
 * role there that its own roles above cover, so that these count, too.
 *
 * @param own the caller's roles, as far as they are needed
 */
function boundaryOf(tx: Transaction, own: readonly HeldRole[]): BeyondIn {
  const roles = Map.groupBy(own, ({ organizationId }) => organizationId);
  return (organizationId, compare) => {
    if (organizationId === tx.organizationId) return compare(tx.ability);
    const there = compare(abilityOfHeld(roles.get(organizationId) ?? []));
    if (!can(tx.ability, 'sub-organization:edit')) return there;
    const above = compare(tx.ability);
    return there.filter((action) => above.includes(action));
  };
}

/** Rules that name attributes of the caller allow nothing here. */
const abilityOfHeld = (held: readonly HeldRole[]): Ability =>
  organizationRights({
    roles: held.map(({ role }) => role),
    storedRules: held.flatMap(({ permissions }) => (permissions === null ? [] : [rulesAsText(permissions)])),
  }).ability;

/** What an account may do by these roles at any time: of a membership with an end, what its role forbids does not count. */
const rulesOfHeld = (held: readonly HeldRole[]): Rule[] => [
  ...rulesOfOrganizationRoles(
    held.map(({ role }) => role),
    [],
  ),
  ...rulesAtAnyTime(
    held.map(({ permissions, endsAt }) => ({
      rules: readRulesText(permissions, ORGANIZATION_VOCABULARY),
      hasBegun: true,
      endsAt: endsAt === null ? null : new Date(endsAt),
    })),
  ),
];

const NO_RIGHTS = projectRights({ roles: [], storedRules: null }).ability;

/** What accounts may do in projects at any time, by themselves, through groups and by privileges, and the caller may not now. */
async function beyondInProjects(tx: Transaction, memberIds: readonly string[]): Promise<ReadonlyMap<string, Action[]>> {
  const holdings = await tx.holdingsOf(tx, memberIds);
  const projectIds = [...new Set(holdings.map(({ projectId }) => projectId))];
  const accesses = projectIds.length === 0 ? [] : await tx.accessesOf(tx, tx.actor.id, projectIds);
  const own = new Map(accesses.map(({ projectId, ability }) => [projectId, ability]));
  const beyond = new Map<string, Action[]>();
  await mapInSlices(
    [...Map.groupBy(holdings, ({ memberId, projectId }) => `${memberId} ${projectId}`).values()],
    (held) => {
      const [{ memberId = '', projectId = '' } = {}] = held;
      const more = rightsBeyond(own.get(projectId) ?? NO_RIGHTS, rulesAtAnyTime(held));
      beyond.set(memberId, [...(beyond.get(memberId) ?? []), ...more]);
    },
  );
  return beyond;
}

/** The conditions on a field that rules have in an organization, in those below it and in all of their projects, each once. */
const CONDITIONS_ON = `
  with here as (select o.id from organization o where o.id = $1 or o.parent_id = $1),
  listed as (
    select r.permissions from project_role r where r.organization_id in (select id from here)
    union all
    select r.permissions from organization_role r where r.organization_id in (select id from here)
    union all
    select v.permissions from additional_privilege v where v.organization_id in (select id from here))
  select distinct jsonb_path_query(listed.permissions, $2::jsonpath) as condition from listed where listed.permissions @? $2::jsonpath`;

/** Somebody gets another name, by which conditions on a field know it. */
interface NewName {
  readonly action: 'member:edit' | 'groups:edit';
  readonly field: 'username' | 'groupSlug';
  readonly from: string;
  readonly to: string;
}

/**
 * By another name somebody gets out of rules, or into others. Where any rule selects otherwise then, only who may rescue projects
 * gives the name, since that rule may be of a project that the caller does not know of.
 *
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeNewName(tx: Transaction, { action, field, from, to }: NewName): Promise<void> {
  if (from === to || can(tx.ability, 'workspace:rescue')) return;
  const found = await query<{ condition: Conditions[string] }>(tx, CONDITIONS_ON, [
    tx.organizationId,
    `$[*].conditions.${field}`,
  ]);
  const [subject = ''] = action.split(':');
  const rules = found.map(({ condition }) => ({ subject, action: 'edit', conditions: { [field]: condition } }));
  if (await selectsOtherwise(rules, [{ subject, before: { [field]: from }, after: { [field]: to } }]))
    throw new PermissionDenied({ action, projectId: null }, ['role:edit']);
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
