import { raw as sql } from '@mikro-orm/core';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, listKey } from '../../../kernel/database/batched.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { matches } from '../../../kernel/graphql/creation.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import {
  type OrderedBounds,
  type OrderedRequest,
  orderedCursorKey,
  orderedPageBounds,
  requestedOrder,
} from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { isBuiltIn } from '../../identity/permissions/public.js';
import { lockProject } from '../core/find-projects.js';
import { ProjectMembership, type RoleTerm } from '../core/membership.entity.js';
import type { ProjectReader } from '../core/project.reader.js';
import type { ProjectAccess } from '../core/project-access.js';
import {
  AddMember,
  AddUsers,
  assignmentsOf,
  ListMembers,
  MEMBER_KINDS,
  MemberKey,
  type MemberKind,
  MemberPage,
  MembershipById,
  pathOfRole,
  RemoveUsers,
  type RolesInput,
  rolesWanted,
  type StoredRoles,
  toStoredRoles,
  UpdateMember,
} from './membership.rules.js';
import {
  authorizeRoles,
  authorizeTarget,
  isConditional,
  loadTarget,
  mayManageMember,
  memberAction,
  type Target,
} from './membership-rights.js';
import {
  countsOfMembers,
  findMembership,
  findUserIds,
  type MembershipRecord,
  membershipsByIds,
  membershipsOfUsers,
  pagesOfMembers,
} from './memberships.js';

const CONSTRAINTS = {
  project_membership_user_unique: 'ALREADY_A_MEMBER',
  project_membership_identity_unique: 'ALREADY_A_MEMBER',
  project_membership_group_unique: 'ALREADY_A_MEMBER',
  project_membership_user_fk: 'USER_NOT_FOUND',
  project_membership_identity_fk: 'IDENTITY_NOT_FOUND',
  project_membership_group_fk: 'GROUP_NOT_FOUND',
  project_membership_project_id_fkey: 'PROJECT_NOT_FOUND',
  project_keeps_an_admin: 'LAST_ADMIN',
} as const;

const NOT_FOUND = { user: 'USER_NOT_FOUND', identity: 'IDENTITY_NOT_FOUND', group: 'GROUP_NOT_FOUND' } as const;

/**
 * The operations on project members: users under the rules of `member`, machine identities under those of `identity`,
 * groups under those of `groups`.
 */
export class MembershipService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Members of a project by name, then ID, or in another order.
   *
   * @param raw `{ projectId, memberKind?, first?, after?, orderBy?, updatedSince? }`; without a kind the right to read
   * all of them is needed
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<MembershipRecord>> {
    const { projectId, memberKind, ...request } = parse(ListMembers, raw);
    const bounds = orderedPageBounds(request);
    const project = await this.projects.load(ctx, projectId);
    const kinds = memberKind == null ? MEMBER_KINDS : [memberKind];
    for (const kind of kinds) authorize(project, memberAction(kind, 'read'));
    const page = await loadMemberPage(ctx, project, { kinds, request, bounds });
    await recordList(ctx, project, page.nodes.length);
    return page;
  }

  /**
   * One member of a project.
   *
   * @param raw `{ projectId, memberKind, memberId }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, MEMBERSHIP_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind, memberId } = parse(MemberKey, raw);
    const project = await this.projects.load(ctx, projectId);
    const target = await loadTarget(ctx, project, 'read', { kind: memberKind, memberId });
    authorizeTarget(project, 'read', target);
    const membership = await load(ctx, project, target);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project-membership:get',
      projectId: project.projectId,
      facts: { memberKind, memberId: membership.memberId },
    });
    return membership;
  }

  /**
   * One membership by its id.
   *
   * @param raw `{ id, memberKind? }`
   * @throws VALIDATION_FAILED, MEMBERSHIP_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async getById(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { id, memberKind } = parse(MembershipById, raw);
    const [found] = isId(id) ? await membershipsByIds(ctx, [id]) : [];
    const project = await this.projects.loadOwning(ctx, found?.projectId, 'MEMBERSHIP_NOT_FOUND');
    if (found === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
    const { memberKind: kind, memberId } = found;
    authorize(project, memberAction(memberKind ?? kind, 'read'));
    if (memberKind != null && memberKind !== kind) throw new AppError('MEMBERSHIP_NOT_FOUND');
    authorizeTarget(project, 'read', { kind, names: found });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project-membership:get',
      projectId: project.projectId,
      facts: { memberKind: kind, memberId },
    });
    return found;
  }

  /**
   * The members of a project that the caller may read, by name, then ID, or in another order, inside of another response.
   * Pages of all projects of a request share one statement.
   *
   * @param raw `{ first?, after?, orderBy?, updatedSince? }`
   * @throws PERMISSION_DENIED when it may read none, VALIDATION_FAILED
   */
  async membersOf(
    ctx: Context,
    project: ProjectAccess,
    raw: unknown = {},
  ): Promise<CountedConnectionOf<MembershipRecord>> {
    const kinds = MEMBER_KINDS.filter((kind) => can(project.ability, memberAction(kind, 'read')));
    if (kinds.length === 0) authorize(project, 'member:read');
    const request = parse(MemberPage, raw);
    return loadMemberPage(ctx, project, { kinds, request, bounds: orderedPageBounds(request) });
  }

  /**
   * Adds a user, an identity or a group of the organization to a project.
   *
   * @param raw `{ projectId, memberKind, memberId, roles | roleAssignments }`, 1 to 10 roles
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, ROLE_NOT_FOUND,
   * USER_NOT_FOUND, IDENTITY_NOT_FOUND, GROUP_NOT_FOUND, ALREADY_A_MEMBER, AUDIT_UNAVAILABLE
   */
  add(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind: kind, memberId, ...given } = parse(AddMember, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      const target = await loadTarget(tx, project, 'create', { kind, memberId });
      authorizeTarget(project, 'create', target);
      const after = await holdRoles(tx, project, given);
      await authorizeRoles(tx, project, {
        verb: 'create',
        targets: [target],
        after,
        placeOf: (at) => pathOfRole(given, at),
      });
      if (target.names === undefined) throw new AppError(NOT_FOUND[kind]);
      createMembership(tx, project, { kind, memberId: target.names.memberId }, after);
      // The foreign key checks the membership of the organization, also against concurrent changes.
      await flush(tx, CONSTRAINTS);
      const membership = await load(tx, project, target);
      await record(tx, 'project-membership:create', membership);
      return membership;
    });
  }

  /**
   * Adds users of the organization to a project by username, all or nothing. With `return-existing`, those who are members already are
   * returned if the caller may read them.
   *
   * @param raw `{ projectId, usernames, roles | roleAssignments, onConflict }`, 1 to 100 names, 1 to 10 roles for all of them
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, ROLE_NOT_FOUND,
   * USER_NOT_FOUND (naming each), ALREADY_A_MEMBER, EXISTS_DIFFERENTLY, AUDIT_UNAVAILABLE
   */
  addUsers(
    ctx: Context,
    raw: unknown,
  ): Promise<{ memberships: readonly MembershipRecord[]; existing: readonly MembershipRecord[] }> {
    const { projectId, usernames, onConflict, ...given } = parse(AddUsers, raw);
    const isAgain = onConflict === 'return-existing';
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      for (const name of usernames) authorizeTarget(project, 'create', userNamed(name));
      // One at a time: others that add the same users find them.
      if (isAgain) await lockProject(tx, project);
      const after = await holdRoles(tx, project, given);
      const known = await findUserIds(tx, usernames);
      const targets = usernames.map((name) => userNamed(name, known.get(name)));
      await authorizeRoles(tx, project, { verb: 'create', targets, after, placeOf: (at) => pathOfRole(given, at) });
      const userIds = idsOf(usernames, known);
      const members = isAgain ? await membershipsOfUsers(tx, project.projectId, userIds) : [];
      const existing = members.filter((member) => mayManageMember(project, 'read', 'user', member));
      refuseOtherRoles(usernames, existing, given);
      const kept = new Set(existing.map(({ memberId }) => memberId));
      const added = userIds.filter((id) => !kept.has(id));
      for (const memberId of added) createMembership(tx, project, { kind: 'user', memberId }, after);
      await flush(tx, CONSTRAINTS);
      const memberships = await membershipsOfUsers(tx, project.projectId, added);
      if (memberships.length > 0) await record(tx, 'project-membership:create', ...memberships);
      if (existing.length > 0) await recordList(tx, project, existing.length);
      return { memberships, existing };
    });
  }

  /**
   * Replaces the roles of a member.
   *
   * @param raw `{ projectId, memberKind, memberId, roles | roleAssignments }`, 1 to 10 roles
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, MEMBERSHIP_NOT_FOUND, ROLE_NOT_FOUND,
   *   LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  update(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind: kind, memberId, ...given } = parse(UpdateMember, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      const target = await loadTarget(tx, project, 'edit', { kind, memberId });
      authorizeTarget(project, 'edit', target);
      // Roles are checked before they change, and must not change or be deleted until then. The trigger that keeps an
      // admin takes the same lock: taken first, it prevents a deadlock.
      await lockProject(tx, project);
      const stored = await load(tx, project, target);
      const after = await holdRoles(tx, project, given);
      const before = rolesOf(stored);
      await authorizeRoles(tx, project, {
        verb: 'edit',
        targets: [target],
        before,
        after,
        placeOf: (at) => pathOfRole(given, at),
      });
      const change = { roles: [...after.slugs], roleTerms: after.terms, updatedAt: sql('now()') };
      await withConstraintCodes(() => tx.em.nativeUpdate(ProjectMembership, { id: stored.id }, change), CONSTRAINTS);
      const membership = await load(tx, project, target);
      await record(tx, 'project-membership:update', membership);
      return membership;
    });
  }

  /**
   * Removes a member from a project.
   *
   * @param raw `{ projectId, memberKind, memberId }`
   * @returns the deleted membership
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, MEMBERSHIP_NOT_FOUND,
   * LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  remove(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind: kind, memberId } = parse(MemberKey, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      const target = await loadTarget(tx, project, 'delete', { kind, memberId });
      authorizeTarget(project, 'delete', target);
      await lockProject(tx, project);
      const membership = await load(tx, project, target);
      await authorizeRoles(tx, project, { verb: 'delete', targets: [target], before: rolesOf(membership) });
      await withConstraintCodes(() => tx.em.nativeDelete(ProjectMembership, { id: membership.id }), CONSTRAINTS);
      await record(tx, 'project-membership:delete', membership);
      return membership;
    });
  }

  /**
   * Takes users out of a project by their names, all or nothing.
   *
   * @param raw `{ projectId, usernames }`, 1 to 100 names
   * @returns the memberships as they were, by name
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, MEMBERSHIP_NOT_FOUND (naming each),
   *   LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  removeUsers(ctx: Context, raw: unknown): Promise<MembershipRecord[]> {
    const { projectId, usernames } = parse(RemoveUsers, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      for (const name of usernames) authorizeTarget(project, 'delete', userNamed(name));
      await lockProject(tx, project);
      const known = await findUserIds(tx, usernames);
      const memberships = await membershipsOfUsers(tx, project.projectId, [...known.values()]);
      refuseOthers(usernames, memberships);
      for (const membership of memberships) {
        const target = userNamed(membership.name, membership.memberId);
        await authorizeRoles(tx, project, { verb: 'delete', targets: [target], before: rolesOf(membership) });
      }
      const ids = memberships.map(({ id }) => id);
      await withConstraintCodes(() => tx.em.nativeDelete(ProjectMembership, { id: { $in: ids } }), CONSTRAINTS);
      await record(tx, 'project-membership:delete', ...memberships);
      return memberships;
    });
  }
}

/** @throws MEMBERSHIP_NOT_FOUND, naming the place of each name that no member of the project has */
function refuseOthers(usernames: readonly string[], memberships: readonly MembershipRecord[]): void {
  const names = new Set(memberships.map(({ name }) => name));
  const details = usernames.flatMap((username, index): ErrorDetail[] =>
    names.has(username)
      ? []
      : [{ path: `usernames[${index}]`, code: 'MEMBERSHIP_NOT_FOUND', message: 'must be a member of the project' }],
  );
  if (details.length > 0) throw new AppError('MEMBERSHIP_NOT_FOUND', undefined, { details });
}

/** @throws EXISTS_DIFFERENTLY, with the path of each user who is a member with other roles, or with roles that have ended or not begun */
function refuseOtherRoles(
  usernames: readonly string[],
  existing: readonly MembershipRecord[],
  given: RolesInput,
): void {
  const wanted = rolesWanted(given);
  const details = existing
    .filter(({ roleAssignments }) => !matches(wanted, roleAssignments))
    .map(
      ({ name }): ErrorDetail => ({
        path: `input.usernames[${usernames.indexOf(name)}]`,
        code: 'DIFFERS',
        message: 'does not have exactly these roles in the project now',
      }),
    );
  if (details.length > 0) throw new AppError('EXISTS_DIFFERENTLY', undefined, { details });
}

const recordList = (ctx: Context, { projectId }: ProjectAccess, count: number): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, { action: 'project-membership:list', projectId, facts: { count } });

async function load(ctx: Context, project: ProjectAccess, { kind, names }: Target): Promise<MembershipRecord> {
  const found = names === undefined ? undefined : await findMembership(ctx, project.projectId, kind, names.memberId);
  if (found === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
  return found;
}

const rolesOf = ({ roleSlugs, roleTerms }: MembershipRecord): StoredRoles => ({ slugs: roleSlugs, terms: roleTerms });

/** Roles in the form of the database. Custom roles cannot be renamed or deleted from here on. */
async function holdRoles(tx: Transaction, project: ProjectAccess, given: RolesInput): Promise<StoredRoles> {
  const roles = assignmentsOf(given);
  if (!roles.every(({ roleSlug }) => isBuiltIn(roleSlug))) await lockProject(tx, project);
  const hasTerms = roles.some(({ range }) => range != null);
  return toStoredRoles(roles, hasTerms ? await databaseNow(tx) : new Date(0));
}

function createMembership(
  tx: Transaction,
  { organizationId, projectId }: ProjectAccess,
  { kind, memberId }: { readonly kind: MemberKind; readonly memberId: string },
  { slugs, terms }: StoredRoles,
): void {
  tx.em.create(ProjectMembership, {
    organizationId,
    projectId,
    userId: kind === 'user' ? memberId : null,
    identityId: kind === 'identity' ? memberId : null,
    groupId: kind === 'group' ? memberId : null,
    roles: [...slugs],
    roleTerms: terms,
  });
}

/** A user named by username. @param memberId absent for one that the organization does not have */
const userNamed = (name: string, memberId = NO_ID): Target => ({
  kind: 'user',
  names: { memberId, name, groupSlug: null },
});

/** @throws USER_NOT_FOUND, with the path of each name that no user of the organization has */
function idsOf(usernames: readonly string[], known: ReadonlyMap<string, string>): string[] {
  const details = usernames.flatMap((username, index): ErrorDetail[] =>
    known.has(username)
      ? []
      : [{ path: `usernames[${index}]`, code: 'USER_NOT_FOUND', message: 'is not a user of the organization' }],
  );
  if (details.length > 0) throw new AppError('USER_NOT_FOUND', undefined, { details });
  return [...known.values()];
}

const record = (tx: Transaction, action: string, ...memberships: readonly MembershipRecord[]): Promise<void> =>
  tx.auditTrail.recordChange(
    tx,
    ...memberships.map(({ projectId, memberKind, memberId, roleSlugs, roleTerms }) => ({
      action,
      projectId,
      subjectId: memberId,
      facts: {
        memberKind,
        memberId,
        roles: roleSlugs,
        ...(roleTerms === null ? {} : { terms: Object.entries(roleTerms).map(termText) }),
      },
    })),
  );

/** `deployer 2026-01-31T12:00:00.000Z/2026-01-31T14:00:00.000Z` */
const termText = ([slug, { startsAt, endsAt }]: [string, RoleTerm]): string => `${slug} ${startsAt}/${endsAt}`;

/** A page of the members of these kinds that the caller may read. */
async function loadMemberPage(
  ctx: Context,
  project: ProjectAccess,
  { kinds, request, bounds }: { kinds: readonly MemberKind[]; request: OrderedRequest; bounds: OrderedBounds },
): Promise<CountedConnectionOf<MembershipRecord>> {
  // Conditions may leave some out: a page consists of the rest.
  const isWhole = !kinds.some((kind) => isConditional(project, kind));
  const load = async (page: OrderedBounds): Promise<MembershipRecord[]> => {
    const key = listKey(project.projectId, { kinds, order: requestedOrder(request), ...page });
    const read = (await batched(ctx, pagesOfMembers, key)) ?? [];
    return isWhole ? [...read] : read.filter((row) => mayManageMember(project, 'read', row.memberKind, row));
  };
  const rows = await load({ ...bounds, limit: isWhole ? bounds.limit : null });
  const shown = request.first == null ? rows : rows.slice(0, request.first + 1);
  return counted(new Page(shown, request, (member) => orderedCursorKey(request, member)), async () =>
    isWhole ? countMembers(ctx, project, kinds) : (await load(WHOLE_LIST)).length,
  );
}

const WHOLE_LIST: OrderedBounds = { value: null, id: null, since: null, limit: null };

async function countMembers(ctx: Context, { projectId }: ProjectAccess, kinds: readonly MemberKind[]): Promise<number> {
  const counts = (await batched(ctx, countsOfMembers, projectId)) ?? [];
  return counts.reduce((sum, { memberKind, count }) => (kinds.includes(memberKind) ? sum + count : sum), 0);
}
