import { raw as sql } from '@mikro-orm/core';
import { type Action, authorize, can } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { batched } from '../../kernel/database/batched.js';
import { flush, guarded, inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';
import { namePageBounds, Page } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import { isBuiltIn, rightsBeyond, rulesOfRoles } from '../permissions/public.js';
import { ProjectMembership } from './membership.entity.js';
import {
  findMembership,
  findUserIds,
  listMemberships,
  type MembershipRecord,
  membershipsOfProjects,
  membershipsOfUsers,
} from './membership.records.js';
import {
  AddMember,
  AddUsers,
  ListMembers,
  MEMBER_KINDS,
  MemberKey,
  type MemberKind,
  subjectOf,
  UpdateMember,
} from './membership.rules.js';
import type { ProjectReader } from './project.reader.js';
import { lockProject, type ProjectAccess } from './project.records.js';
import { rulesBySlug } from './role.records.js';

type Verb = 'read' | 'create' | 'edit' | 'delete' | 'grant-privileges';

const actionOn = (kind: MemberKind, verb: Verb): Action => `${subjectOf(kind)}:${verb}`;

const CONSTRAINTS = {
  project_membership_user_unique: 'ALREADY_A_MEMBER',
  project_membership_identity_unique: 'ALREADY_A_MEMBER',
  project_membership_user_fk: 'USER_NOT_FOUND',
  project_membership_identity_fk: 'IDENTITY_NOT_FOUND',
  project_membership_project_id_fkey: 'PROJECT_NOT_FOUND',
  project_keeps_an_admin: 'LAST_ADMIN',
} as const;

/** The verbs of project members: people under the rules of `member`, machine identities under those of `identity`. */
export class MembershipService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Members of a project by name, then id.
   *
   * @param raw `{ projectId, memberKind?, first?, after? }`; without a kind the right to read both is needed
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identity in project).
   */
  async list(ctx: Context, raw: unknown): Promise<Page<MembershipRecord>> {
    const { projectId, memberKind, ...request } = parse(ListMembers, raw);
    const bounds = namePageBounds(request);
    const project = await this.projects.load(ctx, projectId);
    for (const kind of memberKind == null ? MEMBER_KINDS : [memberKind]) authorize(project, actionOn(kind, 'read'));
    const rows = await listMemberships(ctx, project.projectId, memberKind ?? null, bounds);
    const page = new Page(rows, request, ({ name, id }) => [name, id]);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project-membership:list',
      projectId: project.projectId,
      facts: { count: page.nodes.length },
    });
    return page;
  }

  /**
   * One member of a project.
   *
   * @param raw `{ projectId, memberKind, memberId }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, MEMBERSHIP_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identity in project).
   */
  async get(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind, memberId } = parse(MemberKey, raw);
    const project = await this.projects.load(ctx, projectId);
    authorize(project, actionOn(memberKind, 'read'));
    const membership = await load(ctx, project, memberKind, memberId);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project-membership:get',
      projectId: project.projectId,
      facts: { memberKind, memberId: membership.memberId },
    });
    return membership;
  }

  /**
   * The members of a project that the caller may read, inside of another answer. Batched over all projects of a request.
   *
   * @throws PERMISSION_DENIED when it may read none
   */
  async membersOf(ctx: Context, project: ProjectAccess): Promise<MembershipRecord[]> {
    const readable = MEMBER_KINDS.filter((kind) => can(project.ability, actionOn(kind, 'read')));
    if (readable.length === 0) authorize(project, 'member:read');
    const all = (await batched(ctx, membershipsOfProjects, project.projectId)) ?? [];
    return all.filter(({ memberKind }) => readable.includes(memberKind));
  }

  /**
   * Takes a user or identity of the organization into a project.
   *
   * @param raw `{ projectId, memberKind, memberId, roles }`, 1 to 10 roles
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ROLE_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND, ALREADY_A_MEMBER, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identity in project).
   */
  add(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind, memberId, roles } = parse(AddMember, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, actionOn(memberKind, 'create'));
      // Roles of the project can be renamed and deleted: not until this membership is there to be seen.
      if (!roles.every(isBuiltIn)) await lockProject(tx, project);
      await authorizeReach(tx, project, memberKind, { after: roles });
      if (!isId(memberId)) throw new AppError(memberKind === 'user' ? 'USER_NOT_FOUND' : 'IDENTITY_NOT_FOUND');
      tx.em.create(ProjectMembership, {
        organizationId: project.organizationId,
        projectId: project.projectId,
        userId: memberKind === 'user' ? memberId : null,
        identityId: memberKind === 'identity' ? memberId : null,
        roles,
      });
      // No look before the insert: its foreign key knows who belongs to the organization, also at the same moment.
      await flush(tx, CONSTRAINTS);
      const membership = await load(tx, project, memberKind, memberId);
      await record(tx, 'project-membership:create', membership);
      return membership;
    });
  }

  /**
   * Takes users of the organization into a project by their names, all or none.
   *
   * @param raw `{ projectId, usernames, roles }`, 1 to 100 names, 1 to 10 roles for all of them
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ROLE_NOT_FOUND, USER_NOT_FOUND (naming each),
   *   ALREADY_A_MEMBER, AUDIT_UNAVAILABLE
   */
  addUsers(ctx: Context, raw: unknown): Promise<MembershipRecord[]> {
    const { projectId, usernames, roles } = parse(AddUsers, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, actionOn('user', 'create'));
      if (!roles.every(isBuiltIn)) await lockProject(tx, project);
      await authorizeReach(tx, project, 'user', { after: roles });
      const userIds = await loadUserIds(tx, usernames);
      const { organizationId } = project;
      for (const userId of userIds) {
        tx.em.create(ProjectMembership, {
          organizationId,
          projectId: project.projectId,
          userId,
          identityId: null,
          roles,
        });
      }
      await flush(tx, CONSTRAINTS);
      const memberships = await membershipsOfUsers(tx, project.projectId, userIds);
      await record(tx, 'project-membership:create', ...memberships);
      return memberships;
    });
  }

  /**
   * Replaces the roles of a member.
   *
   * @param raw `{ projectId, memberKind, memberId, roles }`, 1 to 10 roles
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, MEMBERSHIP_NOT_FOUND, ROLE_NOT_FOUND, LAST_ADMIN, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identity in project).
   */
  update(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind, memberId, roles } = parse(UpdateMember, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, actionOn(memberKind, 'edit'));
      // Roles are judged before they change, and stay as they were judged, and stay. The trigger that keeps an admin takes
      // the same lock: held first, nobody waits for the other.
      await lockProject(tx, project);
      const before = await load(tx, project, memberKind, memberId);
      await authorizeReach(tx, project, memberKind, { before: before.roleSlugs, after: roles });
      const change = { roles, updatedAt: sql('now()') };
      await guarded(() => tx.em.nativeUpdate(ProjectMembership, { id: before.id }, change), CONSTRAINTS);
      const membership = await load(tx, project, memberKind, memberId);
      await record(tx, 'project-membership:update', membership);
      return membership;
    });
  }

  /**
   * Takes a member out of a project.
   *
   * @param raw `{ projectId, memberKind, memberId }`
   * @returns the membership as it was
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, MEMBERSHIP_NOT_FOUND, LAST_ADMIN, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identity in project).
   */
  remove(ctx: Context, raw: unknown): Promise<MembershipRecord> {
    const { projectId, memberKind, memberId } = parse(MemberKey, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, actionOn(memberKind, 'delete'));
      await lockProject(tx, project);
      const membership = await load(tx, project, memberKind, memberId);
      await authorizeReach(tx, project, memberKind, { before: membership.roleSlugs });
      await guarded(() => tx.em.nativeDelete(ProjectMembership, { id: membership.id }), CONSTRAINTS);
      await record(tx, 'project-membership:delete', membership);
      return membership;
    });
  }
}

async function load(
  ctx: Context,
  project: ProjectAccess,
  kind: MemberKind,
  memberId: string,
): Promise<MembershipRecord> {
  const found = isId(memberId) ? await findMembership(ctx, project.projectId, kind, memberId) : undefined;
  if (found === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
  return found;
}

/**
 * Giving away more than one has, or touching somebody who has more, is a right of its own.
 *
 * @throws ROLE_NOT_FOUND for a role to be given that is none of the project, PERMISSION_DENIED
 * Source: behaviour 1.1, 2.
 */
async function authorizeReach(
  tx: Transaction,
  project: ProjectAccess,
  kind: MemberKind,
  { before = [], after = [] }: { readonly before?: readonly string[]; readonly after?: readonly string[] },
): Promise<void> {
  const isOwn = (slug: string): boolean => !isBuiltIn(slug);
  const named = [...before, ...after].filter(isOwn);
  const rules = named.length === 0 ? new Map() : await rulesBySlug(tx, project.projectId, named);
  const details = after.flatMap((slug, index): ErrorDetail[] =>
    isBuiltIn(slug) || rules.has(slug)
      ? []
      : [{ path: `roles[${index}]`, code: 'ROLE_NOT_FOUND', message: 'is no role of the project' }],
  );
  if (details.length > 0) throw new AppError('ROLE_NOT_FOUND', undefined, { details });
  const isBeyond = [before, after].some((slugs) => {
    const given = rulesOfRoles(
      slugs,
      slugs.filter(isOwn).map((slug) => rules.get(slug) ?? []),
    );
    return rightsBeyond(project.ability, given).length > 0;
  });
  if (isBeyond) authorize(project, actionOn(kind, 'grant-privileges'));
}

/** @throws USER_NOT_FOUND, naming the place of each name that nobody of the organization has */
async function loadUserIds(tx: Transaction, usernames: readonly string[]): Promise<string[]> {
  const known = await findUserIds(tx, usernames);
  const details = usernames.flatMap((username, index): ErrorDetail[] =>
    known.has(username)
      ? []
      : [{ path: `usernames[${index}]`, code: 'USER_NOT_FOUND', message: 'is no user of the organization' }],
  );
  if (details.length > 0) throw new AppError('USER_NOT_FOUND', undefined, { details });
  return [...known.values()];
}

const record = (tx: Transaction, action: string, ...memberships: readonly MembershipRecord[]): Promise<void> =>
  tx.auditTrail.recordChange(
    tx,
    ...memberships.map(({ projectId, memberKind, memberId, roleSlugs }) => ({
      action,
      projectId,
      facts: { memberKind, memberId, roles: roleSlugs },
    })),
  );
