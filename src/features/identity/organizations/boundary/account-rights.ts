import { type Ability, type Action, can, PermissionDenied, type Rule } from '../../../../kernel/authz/ability.js';
import type { Conditions } from '../../../../kernel/authz/conditions.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { atOnce } from '../../../../kernel/database/in-transaction.js';
import { mapYielding } from '../../../../kernel/event-loop.js';
import {
  matchesOtherResources,
  NO_RIGHTS,
  namesAttributes,
  ORGANIZATION_VOCABULARY,
  organizationRights,
  readRulesText,
  rightsBeyond,
  rightsBeyondChange,
  rulesAsText,
  rulesAtAnyTime,
  rulesOfOrganizationRoles,
  withAttributes,
} from '../../permissions/public.js';
import { listConditionsAt, listRolesInAllOrganizations, listRolesNow } from './boundary.sql.js';

/**
 * Nobody deletes an account with a role that allows, or forbids, more than the caller may, in any organization, by itself or
 * through a group. Its organizations are locked. What it may do in projects: `authorizeRemovalFromProjects`.
 *
 * @param action what the caller does, for the audit record of a refusal
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeAccountDeletion(tx: Transaction, memberId: string, action: Action): Promise<void> {
  const beyondIn = await boundaryOfCaller(tx);
  const held = await listRolesInAllOrganizations(tx, { memberId });
  const beyondEach = await mapYielding(held, ({ organizationId, role, permissions }) => {
    const rules = rulesOfOrganizationRoles([role], [readRulesText(permissions, ORGANIZATION_VOCABULARY)]);
    return beyondIn(organizationId, (own) => rightsBeyondChange(own, rules, []));
  });
  const beyond = [...new Set(beyondEach.flat())];
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, beyond);
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
export async function authorizeRemovalFromProjects(tx: Transaction, memberId: string, action: Action): Promise<void> {
  if (memberId === tx.actor.id || mayTakeFromProjects(tx)) return;
  const beyond = (await beyondInProjects(tx, [memberId])).get(memberId) ?? [];
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, [...new Set(beyond)]);
}

type HeldRole = Awaited<ReturnType<typeof listRolesNow>>[number];

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
 */
export async function authorizeCredentialsOf(tx: Transaction, account: Account, action: Action): Promise<void> {
  const id = account.id.toLowerCase();
  const beyond = (await rightsBeyondCaller(tx, [id], action)).get(id);
  if (beyond !== undefined) throw new PermissionDenied({ action, projectId: account.projectId ?? null }, beyond);
}

/**
 * Rules that name what a session came with give another session something else. Whoever changes by which tokens of a platform its own
 * identity logs in, or what is kept of these, may do anyway what such rules may give to any session, or forbid it.
 *
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeOwnSessions(tx: Transaction, account: Account, action: Action): Promise<void> {
  const id = account.id.toLowerCase();
  if (id !== tx.actor.id) return;
  const [held, inProjects] = await atOnce(rolesNow(tx, [id]), beyondInProjects(tx, [id], namingSession));
  const beyondIn = boundaryOf(tx, held);
  const above = held.flatMap(({ organizationId, permissions, attributes }) => {
    const rules = readRulesText(permissions, ORGANIZATION_VOCABULARY);
    const inAnySession = withAttributes(rules, JSON.parse(attributes ?? '{}') as Record<string, string>);
    return beyondIn(organizationId, (own) => rightsBeyond(own, namingSession([{ rules: inAnySession }])));
  });
  const beyond = [...new Set([...above, ...(inProjects.get(id) ?? [])])];
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: account.projectId ?? null }, beyond);
}

/** Rules that still name something where only the session is not known, as rules that allow it. */
const namingSession = (held: readonly { readonly rules: readonly Rule[] }[]): Rule[] =>
  held.flatMap(({ rules }) =>
    rules.flatMap(({ inverted: _, ...rule }) => (namesAttributes(rule.conditions) ? [rule] : [])),
  );

/** What takes credentials away, and neither makes nor changes any. */
const TAKING: ReadonlySet<Action> = new Set(['identity:delete-token', 'identity:revoke-auth']);

/**
 * What accounts may do that the caller may not, by their ids in lower case: of those that may do more. The caller itself never does.
 * Four statements, however many there are.
 */
export async function rightsBeyondCaller(
  tx: Transaction,
  ids: readonly string[],
  action: Action,
): Promise<ReadonlyMap<string, readonly Action[]>> {
  const others = [...new Set(ids)].filter((id) => id !== tx.actor.id);
  if (others.length === 0) return new Map();
  const isExempt = TAKING.has(action) && mayTakeFromProjects(tx);
  const [held, inProjects] = await atOnce(
    rolesNow(tx, [...others, tx.actor.id]),
    isExempt ? Promise.resolve(new Map<string, Action[]>()) : beyondInProjects(tx, others),
  );
  const roles = Map.groupBy(held, ({ memberId }) => memberId);
  const beyondIn = boundaryOf(tx, roles.get(tx.actor.id) ?? []);
  const beyond = await mapYielding(others, (id): [string, Action[]] => {
    const inOrganizations = Map.groupBy(roles.get(id) ?? [], ({ organizationId }) => organizationId);
    const above = [...inOrganizations].flatMap(([organizationId, held]) =>
      beyondIn(organizationId, (own) => rightsBeyond(own, rulesOfHeld(held))),
    );
    return [id, [...new Set([...above, ...(inProjects.get(id) ?? [])])]];
  });
  return new Map(beyond.filter(([, actions]) => actions.length > 0));
}

const rolesNow = (tx: Transaction, memberIds: readonly string[]): Promise<HeldRole[]> =>
  listRolesNow(tx, { organizationId: tx.organizationId, memberIds });

/** What goes beyond the caller's rights in its organization or in one below it. */
type BeyondIn = (organizationId: string, compare: (own: Ability) => readonly Action[]) => readonly Action[];

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
  // Made once for each organization: many accounts are compared with the same ability.
  const abilities = new Map<string, Ability>();
  const abilityIn = (organizationId: string): Ability => {
    const ability = abilities.get(organizationId) ?? abilityOfHeld(roles.get(organizationId) ?? []);
    abilities.set(organizationId, ability);
    return ability;
  };
  return (organizationId, compare) => {
    if (organizationId === tx.organizationId) return compare(tx.ability);
    const there = compare(abilityIn(organizationId));
    if (!can(tx.ability, 'sub-organization:edit')) return there;
    const above = compare(tx.ability);
    return there.filter((action) => above.includes(action));
  };
}

const abilityOfHeld = (held: readonly HeldRole[]): Ability =>
  organizationRights({
    roles: held.map(({ role }) => role),
    storedRules: held.flatMap(({ permissions }) => (permissions === null ? [] : [rulesAsText(permissions)])),
    attributes: held.find(({ attributes }) => attributes !== null)?.attributes ?? null,
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
      endsAt,
    })),
  ),
];

/**
 * What accounts may do in projects at any time, by themselves, through groups and by privileges, and the caller may not now.
 *
 * @param rulesOf what counts of the rules that they hold in a project
 */
async function beyondInProjects(
  tx: Transaction,
  memberIds: readonly string[],
  rulesOf: typeof rulesAtAnyTime = rulesAtAnyTime,
): Promise<ReadonlyMap<string, Action[]>> {
  const holdings = await tx.providers.listProjectAssignments(tx, memberIds);
  const projectIds = [...new Set(holdings.map(({ projectId }) => projectId))];
  const accesses = projectIds.length === 0 ? [] : await tx.providers.listAccessBelow(tx, tx.actor.id, projectIds);
  const own = new Map(accesses.map(({ projectId, ability }) => [projectId, ability]));
  const inAll = await tx.providers.rightsBeyondInAllProjects(tx, memberIds);
  const beyond = new Map([...inAll].map(([id, actions]) => [id, [...actions]]));
  await mapYielding(
    [...Map.groupBy(holdings, ({ memberId, projectId }) => `${memberId} ${projectId}`).values()],
    (held) => {
      const [{ memberId = '', projectId = '' } = {}] = held;
      const more = rightsBeyond(own.get(projectId) ?? NO_RIGHTS, rulesOf(held));
      beyond.set(memberId, [...(beyond.get(memberId) ?? []), ...more]);
    },
  );
  return beyond;
}

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
  const place = { organizationId: tx.organizationId, path: `$[*].conditions.${field}` };
  const found = (await listConditionsAt(tx, place)) as readonly { readonly condition: Conditions[string] }[];
  const [subject = ''] = action.split(':');
  const rules = found.map(({ condition }) => ({ subject, action: 'edit', conditions: { [field]: condition } }));
  if (await matchesOtherResources(rules, [{ subject, before: { [field]: from }, after: { [field]: to } }]))
    throw new PermissionDenied({ action, projectId: null }, ['role:edit']);
}
