import {
  type Ability,
  type Action,
  authorize,
  can,
  PermissionDenied,
  type Rule,
} from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { RowFrom } from '../../../kernel/database/statement.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import {
  type AssignableRights,
  type Assignee,
  abilityOf,
  isBuiltIn,
  mayAssign,
  mayAssignTo,
  readStoredRules,
  rightsBeyond,
  rulesOfRoles,
  rulesUntil,
} from '../../identity/permissions/public.js';
import type { RoleTerm } from '../core/membership.entity.js';
import type { ProjectAccess } from '../core/project-access.js';
import { rulesBySlug } from '../roles/role.queries.js';
import { rulesInAllProjects } from './all-projects-rights.js';
import { listRolesInAllProjects } from './all-projects-rights.sql.js';
import { fieldsOf, type MemberKind, type MemberNames, type StoredRoles, subjectOf } from './membership.rules.js';
import { listOtherRights } from './membership.sql.js';
import { findMember, listProjectAssignments } from './memberships.js';

type MemberVerb = 'read' | 'create' | 'edit' | 'delete';

export const memberAction = (kind: MemberKind, verb: MemberVerb | 'assign-role' | 'grant-privileges'): Action =>
  `${subjectOf(kind)}:${verb}`;

/** The member that a caller names by kind and ID. */
export interface Target {
  readonly kind: MemberKind;
  /** Undefined when the organization has no such member. */
  readonly names: MemberNames | undefined;
}

/** Whether the caller may perform the action on members of a kind only under conditions. */
export const isConditional = ({ ability }: ProjectAccess, kind: MemberKind): boolean =>
  ability.rulesFor('read', subjectOf(kind)).some(({ conditions }) => conditions !== undefined);

/** Whether the caller may perform the action on a member. */
export const mayManageMember = (
  { ability }: ProjectAccess,
  verb: MemberVerb,
  kind: MemberKind,
  names: MemberNames | undefined,
) => can(ability, memberAction(kind, verb), fieldsOf(kind, names));

/**
 * Looks up the member for callers who may perform the action on some member of the kind: conditions of rules depend on
 * it.
 *
 * @throws PERMISSION_DENIED for callers who may perform it on none, and may assign no role either
 */
export async function loadTarget(
  ctx: Context,
  project: ProjectAccess,
  verb: MemberVerb,
  { kind, memberId }: { readonly kind: MemberKind; readonly memberId: string },
): Promise<Target> {
  const assignments = (['assign-role', 'grant-privileges'] as const).map((word) => memberAction(kind, word));
  const mayDelegate = verb !== 'read' && assignments.some((action) => can(project.ability, action));
  if (!mayDelegate) authorize(project, memberAction(kind, verb));
  return { kind, names: await findMember(ctx, project, kind, memberId) };
}

/**
 * Called before a membership is looked up: a caller who may neither perform the action on the member nor assign a role
 * to it learns nothing.
 *
 * @throws PERMISSION_DENIED
 */
export function authorizeTarget(project: ProjectAccess, verb: MemberVerb, { kind, names }: Target): void {
  if (mayManageMember(project, verb, kind, names)) return;
  if (verb !== 'read' && mayAssignTo(project.ability, assigneeOf(kind, names), 'assign-role')) return;
  throw new PermissionDenied({ action: memberAction(kind, verb), projectId: project.projectId });
}

const assigneeOf = (kind: MemberKind, names: MemberNames | undefined): Assignee => ({
  subject: subjectOf(kind),
  fields: fieldsOf(kind, names),
});

/** A change of the roles of a member, or of several together. */
interface Change {
  readonly verb: 'create' | 'edit' | 'delete';
  readonly targets: readonly Target[];
  readonly before?: StoredRoles;
  readonly after?: StoredRoles;
  /** Path of a role to assign in the input. */
  readonly placeOf?: (index: number) => string;
  /** Message for a role that the project does not have. */
  readonly unknownRole?: string;
}

/** A change of the roles of one member. */
export interface MemberChange extends Omit<Change, 'targets'> {
  readonly target: Target;
}

/**
 * Callers who may perform the action on the members, or may assign each of the changed roles, may change their roles,
 * as far as they have what they grant and revoke.
 *
 * @throws ROLE_NOT_FOUND for a role to assign that the project does not have, PERMISSION_DENIED, PERMISSION_BOUNDARY
 */
export async function authorizeRoles(
  tx: Transaction,
  project: ProjectAccess,
  { verb, targets, before = NO_ROLES, after = NO_ROLES, placeOf = String, unknownRole = UNKNOWN_ROLE }: Change,
): Promise<void> {
  const own = ownSlugs({ before, after });
  const rules = own.length === 0 ? NO_RULES : await rulesBySlug(tx, project.projectId, own);
  // Privileges end with the membership; other rights matter only where a role forbids something.
  const isAsked = verb === 'delete' || hasProhibitions(rules);
  const besides = isAsked ? await besidesOf(tx, project, targets) : NOTHING_ELSE;
  const ownTerm = targets.some((target) => isCaller(tx, target)) ? await ownTermGuard(tx, project.projectId) : null;
  judgeRoles(tx, project, { verb, targets, before, after, placeOf, unknownRole }, { rules, besides, ownTerm });
}

const isCaller = ({ actor }: Transaction, { kind, names }: Target): boolean =>
  actor.kind === kind && actor.id === names?.memberId;

/**
 * As `authorizeRoles`, for changes of many members in one statement.
 *
 * @param rules of the custom roles that members have before or after, by slug
 * @throws ROLE_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY
 */
export async function authorizeMemberChanges(
  tx: Transaction,
  project: ProjectAccess,
  changes: readonly MemberChange[],
  rules: ReadonlyMap<string, readonly Rule[]>,
): Promise<void> {
  if (changes.length === 0) return;
  const memberIds = changes.map(({ target }) => target.names?.memberId ?? NO_ID);
  const rows = await listOtherRights(tx, { projectId: project.projectId, memberIds });
  const isOwn = changes.some(({ target }) => isCaller(tx, target));
  const ownTerm = isOwn ? await ownTermGuard(tx, project.projectId) : null;
  const besides = new Map(rows.map((row) => [row.memberId, row]));
  for (const change of changes) {
    const { target, placeOf = String, unknownRole = UNKNOWN_ROLE, before = NO_ROLES, after = NO_ROLES, verb } = change;
    const own = new Set(ownSlugs({ before, after }));
    judgeRoles(
      tx,
      project,
      { verb, targets: [target], before, after, placeOf, unknownRole },
      {
        rules: new Map([...rules].filter(([slug]) => own.has(slug))),
        besides: besides.get(target.names?.memberId ?? NO_ID) ?? NOTHING_ELSE,
        ownTerm: isCaller(tx, target) ? ownTerm : null,
      },
    );
  }
}

const UNKNOWN_ROLE = 'is not a role of the project';

const NO_RULES: ReadonlyMap<string, readonly Rule[]> = new Map();

const ownSlugs = ({ before, after }: { readonly before: StoredRoles; readonly after: StoredRoles }): string[] =>
  [...before.slugs, ...after.slugs].filter((slug) => !isBuiltIn(slug));

/** What the decision on a change depends on. */
interface Known {
  /** Of the custom roles in it, by slug. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  readonly besides: BesidesRoles;
  /** Set where the caller changes its own roles; null otherwise. */
  readonly ownTerm: BeyondOwnTerm | null;
}

function judgeRoles(
  tx: Transaction,
  project: ProjectAccess,
  { verb, targets, before, after, placeOf, unknownRole }: Required<Change>,
  { rules, besides: { hasMore, privileges: stored }, ownTerm }: Known,
): void {
  const change = roleChange(before, after);
  const privileges = verb === 'delete' ? (stored ?? []).map((list) => readStoredRules(list)) : [];
  const roles = rolesInChange(change);
  // A change without effect requires the right to assign the existing roles.
  const assigned: AssignableRights[] = [
    ...(roles.length > 0 ? roles : after.slugs).map(
      (role): AssignableRights => ({ verb: 'assign-role', role, rules: rulesOfRoles([role], [rules.get(role) ?? []]) }),
    ),
    ...privileges.map((list): AssignableRights => ({ verb: 'assign-additional-privileges', rules: list })),
  ];
  for (const target of targets) authorizeEach(project, verb, target, assigned);
  refuseUnknown(after.slugs, rules, { placeOf, unknownRole });
  const beyond = rightsBeyondRoleChange(project.ability, change, {
    isCaller: targets.every((target) => isCaller(tx, target)),
    outlasted: outlastedRoles(after),
    hasMore,
    rules,
    privileges: privileges.flat(),
  });
  const [kind = 'user'] = targets.map((target) => target.kind);
  const attempt = { action: memberAction(kind, verb), projectId: project.projectId };
  const beyondTerm = change.given.flatMap(
    (slug) => ownTerm?.(rulesOfRoles([slug], [rules.get(slug) ?? []]), endOf(after, slug)) ?? [],
  );
  const all = [...new Set([...beyond, ...beyondTerm])];
  if (all.length > 0) throw new PermissionDenied(attempt, all);
}

const hasProhibitions = (rules: ReadonlyMap<string, readonly Rule[]>): boolean =>
  [...rules.values()].flat().some(({ inverted }) => inverted === true);

/** What members have in a project besides the roles of a membership. */
type BesidesRoles = Omit<RowFrom<typeof listOtherRights>, 'memberId'>;

const NOTHING_ELSE: BesidesRoles = { hasMore: false, privileges: null };

/** What several members have together. One unknown to the organization has nothing. */
async function besidesOf(
  tx: Transaction,
  { projectId }: ProjectAccess,
  targets: readonly Target[],
): Promise<BesidesRoles> {
  const memberIds = targets.flatMap(({ names }) => names?.memberId ?? []);
  const rows = await listOtherRights(tx, { projectId, memberIds });
  return {
    hasMore: rows.some(({ hasMore }) => hasMore),
    privileges: rows.flatMap(({ privileges }) => privileges ?? []),
  };
}

/**
 * @throws PERMISSION_DENIED unless the caller may perform the action on the member, or may assign each of these to it
 */
function authorizeEach(
  project: ProjectAccess,
  verb: MemberVerb,
  { kind, names }: Target,
  assigned: readonly AssignableRights[],
): void {
  const { ability, projectId } = project;
  if (mayManageMember(project, verb, kind, names)) return;
  const assignee = assigneeOf(kind, names);
  if (assigned.every((each) => mayAssign(ability, assignee, each))) return;
  throw new PermissionDenied({ action: memberAction(kind, 'assign-role'), projectId });
}

function refuseUnknown(
  slugs: readonly string[],
  rules: ReadonlyMap<string, unknown>,
  { placeOf, unknownRole }: Pick<Required<Change>, 'placeOf' | 'unknownRole'>,
): void {
  const details = slugs.flatMap((slug, index): ErrorDetail[] =>
    isBuiltIn(slug) || rules.has(slug) ? [] : [{ path: placeOf(index), code: 'ROLE_NOT_FOUND', message: unknownRole }],
  );
  if (details.length > 0) throw new AppError('ROLE_NOT_FOUND', undefined, { details });
}

/** Which roles are granted and revoked. A role whose term changes counts as both. */
interface RoleChange {
  readonly taken: readonly string[];
  readonly given: readonly string[];
  readonly kept: readonly string[];
}

/** When an assigned role ends; null: never. */
function endOf(held: StoredRoles, slug: string): Date | null {
  const term = termOf(held, slug);
  return term === undefined ? null : new Date(term.endsAt);
}

/**
 * Roles whose term leaves out a part of the term of another: for that part they do not forbid what the other allows.
 */
const outlastedRoles = (held: StoredRoles): string[] =>
  held.slugs.filter((slug) => !held.slugs.every((other) => covers(termOf(held, slug), termOf(held, other))));

const covers = (one: RoleTerm | undefined, other: RoleTerm | undefined): boolean =>
  one === undefined || (other !== undefined && one.startsAt <= other.startsAt && other.endsAt <= one.endsAt);

/** No roles. */
const NO_ROLES: StoredRoles = { slugs: [], terms: null };

/** The difference between the roles of a member before and after. */
function roleChange(before: StoredRoles, after: StoredRoles): RoleChange {
  const stays = (slug: string): boolean =>
    before.slugs.includes(slug) && after.slugs.includes(slug) && isSameTerm(termOf(before, slug), termOf(after, slug));
  const orderOf = ({ slugs }: StoredRoles): string => slugs.filter((slug) => !isBuiltIn(slug) && stays(slug)).join(' ');
  // Later roles win: in another order they grant something else.
  const isInOrder = orderOf(before) === orderOf(after);
  const isKept = (slug: string): boolean => stays(slug) && (isInOrder || isBuiltIn(slug));
  return {
    taken: before.slugs.filter((slug) => !isKept(slug)),
    given: after.slugs.filter((slug) => !isKept(slug)),
    kept: after.slugs.filter(isKept),
  };
}

const termOf = ({ terms }: StoredRoles, slug: string): RoleTerm | undefined =>
  terms !== null && Object.hasOwn(terms, slug) ? terms[slug] : undefined;

/** Slugs of all roles that are granted or revoked. */
const rolesInChange = ({ taken, given }: RoleChange): string[] => [...new Set([...taken, ...given])];

const isSameTerm = (one: RoleTerm | undefined, other: RoleTerm | undefined): boolean =>
  one?.range === other?.range && one?.startsAt === other?.startsAt && one?.endsAt === other?.endsAt;

/** The member whose roles change, and what is known about it. */
interface Holder {
  /** The caller itself: revoking one's own roles requires no right. */
  readonly isCaller: boolean;
  /** It has rights besides those of this membership: a role that forbids something removes from these. */
  readonly hasMore: boolean;
  /** Rules of the custom roles of the project, by slug. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  /** Of the granted ones: `outlastedRoles`. */
  readonly outlasted?: readonly string[];
  /** Rules of privileges that end with the membership. */
  readonly privileges?: readonly Rule[];
}

/**
 * The rights that a change of roles grants or revokes and that the caller does not have. A temporary role counts as if
 * it were active now. Where the member has nothing else, what roles forbid removes nothing.
 */
function rightsBeyondRoleChange(own: Ability, { taken, given, kept }: RoleChange, holder: Holder): Action[] {
  const rulesOf = (slugs: readonly string[], outlasted: readonly string[] = []): Rule[] =>
    rulesOfRoles(
      slugs,
      slugs
        .filter((slug) => !isBuiltIn(slug))
        .map((slug) => {
          const rules = holder.rules.get(slug) ?? [];
          return outlasted.includes(slug) ? rules.filter(({ inverted }) => inverted !== true) : rules;
        }),
    );
  const lost = [...rulesOf(taken), ...(holder.privileges ?? [])];
  const won = rulesOf(given);
  const isAlone = kept.length === 0 && !holder.hasMore;
  return [
    ...new Set([
      ...(holder.isCaller ? [] : rightsBeyond(own, lost)),
      ...rightsBeyond(own, rulesOf(given, holder.outlasted)),
      ...(isAlone ? [] : rightsBeyond(own, [...forbiddenBy(lost), ...(holder.isCaller ? [] : forbiddenBy(won))])),
    ]),
  ];
}

/** The rights that rules forbid, as rules that allow them. */
const forbiddenBy = (rules: readonly Rule[]): Rule[] =>
  rules.filter(({ inverted }) => inverted === true).map(({ inverted: _, ...rule }) => rule);

/**
 * The part of rules that a caller gives itself in a project that exceeds what it has there until they end.
 *
 * @param end null: never
 */
type BeyondOwnTerm = (rules: readonly Rule[], end: Date | null) => Action[];

/** Prevents callers from extending their own term: for the caller's own roles and privileges in a project. */
export async function ownTermGuard(tx: Transaction, projectId: string): Promise<BeyondOwnTerm> {
  const { organizationId, actor } = tx;
  const inAll = (await listRolesInAllProjects(tx, { organizationId, memberIds: [actor.id] }))
    .filter((row) => row.organizationId === organizationId)
    .map((row) => ({ rules: rulesInAllProjects(row), hasBegun: true, termEndsAt: row.termEndsAt }));
  const inProject = (await listProjectAssignments(tx, [actor.id])).filter((holding) => holding.projectId === projectId);
  // Everything assigned in the project ends with the caller's membership of the organization anyway.
  const held = [...inAll, ...inProject].map((holding) => ({ ...holding, endsAt: holding.termEndsAt }));
  return (rules, end) => rightsBeyond(abilityOf(rulesUntil(held, end)), rules);
}
