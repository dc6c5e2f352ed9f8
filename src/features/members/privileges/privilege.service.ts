import { raw as sql } from '@mikro-orm/core';
import type { z } from 'zod';
import { type Action, authorize, can, PermissionDenied, type Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfOwned } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, randomLetters } from '../../../kernel/ids.js';
import { type Counted, type CursorKey, type Page, pageOf } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { slugFor } from '../../../kernel/value-rules.js';
import { mayAssign, readStoredRules, rightsBeyondChange, toRules } from '../../identity/permissions/public.js';
import { ownTermGuard, type ProjectAccess, type ProjectReader } from '../../projects/public.js';
import { AdditionalPrivilege } from './additional-privilege.entity.js';
import {
  fieldsOf,
  findMember,
  findPrivilegeBySlug,
  findPrivileges,
  listPrivileges,
  type PrivilegeView,
  privilegesOfMemberships,
  toPrivilegeView,
} from './privilege.queries.js';
import {
  CreatePrivilege,
  ListPrivileges,
  type MemberKind,
  OnePrivilege,
  PrivilegeBySlug,
  type ProjectByIdOrSlug,
  subjectOf,
  termToColumns,
  UpdatePrivilege,
  UpdatePrivilegeBySlug,
} from './privilege.rules.js';

/** A member, in the fields that rules of others match on. */
type Target = Parameters<typeof fieldsOf>[0];

const KINDS = ['user', 'identity'] as const;
const CODES = {
  additional_privilege_slug_unique: 'PRIVILEGE_SLUG_TAKEN',
  additional_privilege_membership_id_fkey: 'MEMBERSHIP_NOT_FOUND',
  additional_privilege_project_id_fkey: 'PROJECT_NOT_FOUND',
} as const;

/** The position of a privilege in a list. Slugs are unique for one member only. */
export const bySlug = ({ slug, id }: Pick<PrivilegeView, 'slug' | 'id'>): CursorKey => [slug, id];

/**
 * Privileges: permissions that a member of a project has besides its roles, permanently or for a time. Every request of
 * the member reads them, so they begin and end with its next request.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED
 * and AUDIT_UNAVAILABLE. Changes that grant, revoke or forbid more than the caller may do throw PERMISSION_BOUNDARY.
 */
export class PrivilegeService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Creates a privilege of a user or machine identity with a direct membership.
   *
   * @throws MEMBERSHIP_NOT_FOUND, PRIVILEGE_SLUG_TAKEN
   */
  create(ctx: Context, raw: unknown): Promise<PrivilegeView> {
    const { projectId: byId, projectSlug, ...input } = parse(CreatePrivilege, raw);
    const { memberKind, memberId, slug, permissions, term } = input;
    const rules = toRules(permissions);
    return inTransaction(ctx, async (tx) => {
      const project = await this.#project(tx, { projectId: byId, projectSlug });
      authorizeSome(project, [memberKind]);
      const { organizationId, projectId } = project;
      const [member] = isId(memberId) ? await findMember(tx, { projectId, kind: memberKind, memberId }) : [];
      const target = { memberKind, memberId: memberId.toLowerCase(), username: member?.username ?? null };
      authorizeGiving(project, target, [rules]);
      if (member === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
      const columns = termToColumns(term, member.now);
      refuseBeyond(project, target, [
        ...beyondEitherWay(project, [], rules),
        ...(await beyondOwnTerm(tx, target, { projectId, rules, endsAt: columns.endsAt })),
      ]);
      const privilege = tx.em.create(AdditionalPrivilege, {
        organizationId,
        projectId,
        membershipId: member.membershipId,
        slug: slug ?? slugFor('', randomLetters(SUFFIX), { fallback: 'privilege', max: 64 }),
        permissions: rules,
        ...columns,
      });
      // No look before the insert: two callers could both find the slug free. The constraint decides.
      await flush(tx, CODES);
      return changed(tx, 'additional-privilege:create', privilege.id);
    });
  }

  /** Updates slug, rules or term of a privilege. @throws PRIVILEGE_NOT_FOUND, PRIVILEGE_SLUG_TAKEN */
  update(ctx: Context, raw: unknown): Promise<PrivilegeView> {
    const { slug, permissions, term, ...named } = parse(UpdatePrivilege, raw);
    return inTransaction(ctx, async (tx) => {
      const found = await this.#find(tx, named, authorizeSome);
      return change(tx, found, { slug, permissions, term });
    });
  }

  /** As `update`, by slug. */
  updateBySlug(ctx: Context, raw: unknown): Promise<PrivilegeView> {
    const { newSlug, permissions, term, ...named } = parse(UpdatePrivilegeBySlug, raw);
    return inTransaction(ctx, async (tx) => {
      const found = await this.#findBySlug(tx, named, authorizeSome);
      return change(tx, found, { slug: newSlug, permissions, term });
    });
  }

  /** Deletes a privilege. @returns the deleted privilege @throws PRIVILEGE_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<PrivilegeView> {
    const named = parse(OnePrivilege, raw);
    return inTransaction(ctx, async (tx) => remove(tx, await this.#find(tx, named, authorizeSome)));
  }

  /** As `delete`, by slug. */
  deleteBySlug(ctx: Context, raw: unknown): Promise<PrivilegeView> {
    const named = parse(PrivilegeBySlug, raw);
    return inTransaction(ctx, async (tx) => remove(tx, await this.#findBySlug(tx, named, authorizeSome)));
  }

  /** One privilege by ID. @throws PRIVILEGE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<PrivilegeView> {
    const { project, row } = await this.#find(ctx, parse(OnePrivilege, raw), authorizeReading);
    authorizeReadingOf(project, row);
    return shown(ctx, row);
  }

  /** One privilege by its slug. @throws PRIVILEGE_NOT_FOUND */
  async getBySlug(ctx: Context, raw: unknown): Promise<PrivilegeView> {
    const { project, row } = await this.#findBySlug(ctx, parse(PrivilegeBySlug, raw), authorizeReading);
    authorizeReadingOf(project, row);
    return shown(ctx, row);
  }

  /**
   * Lists privileges of a project or of one of its members, by slug, then ID. Members that the caller may not read are
   * left out.
   *
   * @throws MEMBERSHIP_NOT_FOUND
   */
  async list(ctx: Context, raw: unknown): Promise<Page<PrivilegeView> & Counted> {
    const { projectId: byId, projectSlug, memberKind, memberId, ...request } = parse(ListPrivileges, raw);
    const project = await this.#project(ctx, { projectId: byId, projectSlug });
    authorizeReading(project, memberKind == null ? KINDS : [memberKind]);
    const { projectId } = project;
    const membershipId =
      memberKind == null || memberId == null ? null : await this.#membershipOf(ctx, project, memberKind, memberId);
    const rows = await listPrivileges(ctx, { projectId, kind: memberKind ?? null, membershipId });
    const page = pageOf(readable(project, rows.map(toPrivilegeView)), request, 2, bySlug);
    const facts = { count: page.nodes.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'additional-privilege:list', projectId, facts });
    return page;
  }

  /** Privileges of a membership in a response. All memberships of the response share one statement. */
  async listOfMembership(
    ctx: Context,
    { id, projectId }: { readonly id: string; readonly projectId: string },
  ): Promise<readonly PrivilegeView[]> {
    const project = await this.projects.load(ctx, projectId);
    return readable(project, (await batched(ctx, loadByMembership, id)) ?? []);
  }

  /** @throws PROJECT_NOT_FOUND */
  #project(ctx: Context, { projectId, projectSlug }: ProjectByIdOrSlug): Promise<ProjectAccess> {
    return projectId == null ? this.projects.loadBySlug(ctx, String(projectSlug)) : this.projects.load(ctx, projectId);
  }

  /** The membership of a member that the caller may read. @throws PERMISSION_DENIED, MEMBERSHIP_NOT_FOUND */
  async #membershipOf(ctx: Context, project: ProjectAccess, kind: MemberKind, memberId: string): Promise<string> {
    const { projectId } = project;
    const [member] = isId(memberId) ? await findMember(ctx, { projectId, kind, memberId }) : [];
    const target = { memberKind: kind, memberId: memberId.toLowerCase(), username: member?.username ?? null };
    authorizeReadingOf(project, target);
    if (member === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
    return member.membershipId;
  }

  /**
   * A privilege and its project.
   *
   * @param refuse refuses callers who may perform the action for no member of these kinds
   */
  async #find(
    ctx: Context,
    { id, projectId }: { readonly id: string; readonly projectId?: string | null | undefined },
    refuse: RefuseKinds,
  ): Promise<Found> {
    const named = projectId == null ? undefined : await this.projects.load(ctx, projectId);
    const [row] = isId(id) ? await findPrivileges(ctx, { ids: [id] }) : [];
    const project = named ?? (await this.projects.loadOwning(ctx, row?.projectId, 'PRIVILEGE_NOT_FOUND'));
    const found = row?.projectId === project.projectId ? row : undefined;
    refuse(project, found === undefined ? KINDS : [found.memberKind]);
    if (found === undefined) throw new AppError('PRIVILEGE_NOT_FOUND');
    return { project, row: toPrivilegeView(found) };
  }

  /** The same by its slug. */
  async #findBySlug(ctx: Context, named: z.output<typeof PrivilegeBySlug>, refuse: RefuseKinds): Promise<Found> {
    const project = await this.#project(ctx, named);
    const { memberKind: kind, memberId, slug } = named;
    refuse(project, [kind]);
    const { projectId } = project;
    const [row] = isId(memberId) ? await findPrivilegeBySlug(ctx, { projectId, kind, memberId, slug }) : [];
    if (row === undefined) throw new AppError('PRIVILEGE_NOT_FOUND');
    return { project, row: toPrivilegeView(row) };
  }
}

/** A privilege and its project. */
interface Found {
  readonly project: ProjectAccess;
  readonly row: PrivilegeView;
}

/** Refuses callers who may perform an action for no member of these kinds. @throws PERMISSION_DENIED */
type RefuseKinds = (project: ProjectAccess, kinds: readonly MemberKind[]) => void;

async function change(
  tx: Transaction,
  { project, row }: Found,
  { slug, permissions, term }: Pick<z.output<typeof UpdatePrivilege>, 'slug' | 'permissions' | 'term'>,
): Promise<PrivilegeView> {
  const privilege = await lockRow(tx, AdditionalPrivilege, { id: row.id }, 'PRIVILEGE_NOT_FOUND');
  const now = await databaseNow(tx);
  const before = inForce(privilege, now);
  const after = permissions === undefined ? readStoredRules(privilege.permissions) : toRules(permissions);
  authorizeGiving(project, row, [before, after]);
  // A new term ends what the previous one granted and forbade, and starts anew.
  const beyond =
    term === undefined
      ? beyondEitherWay(project, before, after)
      : [...beyondEitherWay(project, before, []), ...beyondEitherWay(project, [], after)];
  const columns = term === undefined ? null : termToColumns(term, now);
  const endsAt = columns === null ? (privilege.endsAt ?? null) : columns.endsAt;
  const isGiven = permissions !== undefined || term !== undefined;
  const given = { projectId: project.projectId, rules: isGiven ? after : [], endsAt };
  const beyondTerm = await beyondOwnTerm(tx, row, given);
  refuseBeyond(project, row, [...beyond, ...beyondTerm]);
  tx.em.assign(privilege, {
    slug: slug ?? privilege.slug,
    ...(permissions === undefined ? {} : { permissions: after }),
    ...columns,
    updatedAt: sql('now()'),
  });
  await flush(tx, CODES);
  return changed(tx, 'additional-privilege:update', row.id);
}

async function remove(tx: Transaction, { project, row }: Found): Promise<PrivilegeView> {
  const privilege = await lockRow(tx, AdditionalPrivilege, { id: row.id }, 'PRIVILEGE_NOT_FOUND');
  const before = inForce(privilege, await databaseNow(tx));
  authorizeGiving(project, row, [before]);
  refuseBeyond(project, row, beyondEitherWay(project, before, []));
  tx.em.remove(privilege);
  await flush(tx);
  await record(tx, 'additional-privilege:delete', row);
  return row;
}

/** Length of the random part of a generated slug. */
const SUFFIX = 8;

/** The rules of a privilege, unless it has ended. */
const inForce = ({ permissions, endsAt }: AdditionalPrivilege, now: Date): readonly Rule[] =>
  endsAt != null && endsAt <= now ? [] : readStoredRules(permissions);

/** The rights that allow changes of privileges. `grant-privileges` also covers assignments of roles. */
const CHANGING = ['edit', 'assign-additional-privileges', 'grant-privileges'] as const;

const VERB = 'assign-additional-privileges';
const actionOn = (kind: MemberKind, verb: 'read' | (typeof CHANGING)[number]): Action => `${subjectOf(kind)}:${verb}`;

/** @throws PERMISSION_DENIED unless the caller may read some member of these kinds */
function authorizeReading(project: ProjectAccess, kinds: readonly MemberKind[]): void {
  const [first] = kinds as readonly [MemberKind];
  if (!kinds.some((kind) => can(project.ability, actionOn(kind, 'read')))) authorize(project, actionOn(first, 'read'));
}

/** @throws PERMISSION_DENIED */
export const authorizeReadingOf = (project: ProjectAccess, target: Target): void =>
  authorize(project, actionOn(target.memberKind, 'read'), fieldsOf(target));

const readable = (project: ProjectAccess, rows: readonly PrivilegeView[]): PrivilegeView[] =>
  rows.filter((row) => can(project.ability, actionOn(row.memberKind, 'read'), fieldsOf(row)));

/** @throws PERMISSION_DENIED unless the caller may change privileges of some member of these kinds */
function authorizeSome(project: ProjectAccess, kinds: readonly MemberKind[]): void {
  const [first] = kinds as readonly [MemberKind];
  const mayChange = (kind: MemberKind): boolean => CHANGING.some((verb) => can(project.ability, actionOn(kind, verb)));
  if (!kinds.some(mayChange)) authorize(project, actionOn(first, 'edit'));
}

/**
 * Authorizes callers who may edit the member, or assign every subject and action that these rules allow.
 *
 * @throws PERMISSION_DENIED
 */
function authorizeGiving(project: ProjectAccess, target: Target, given: readonly (readonly Rule[])[]): void {
  const { ability } = project;
  const fields = fieldsOf(target);
  if (can(ability, actionOn(target.memberKind, 'edit'), fields)) return;
  const assignee = { subject: subjectOf(target.memberKind), fields };
  if (!given.every((rules) => mayAssign(ability, assignee, { verb: VERB, rules })))
    throw new PermissionDenied({ action: actionOn(target.memberKind, 'edit'), projectId: project.projectId });
}

/**
 * Actions that a change of rules grants or takes and that the caller may not perform. Both count, since a privilege that
 * forbids takes rights from its holder, and gives them back when it ends.
 */
const beyondEitherWay = ({ ability }: ProjectAccess, before: readonly Rule[], after: readonly Rule[]): Action[] => [
  ...rightsBeyondChange(ability, before, after),
  ...rightsBeyondChange(ability, after, before),
];

/** Actions that callers would grant themselves for longer than they have them. */
async function beyondOwnTerm(
  tx: Transaction,
  { memberKind, memberId }: Target,
  given: { readonly projectId: string; readonly rules: readonly Rule[]; readonly endsAt: Date | null },
): Promise<Action[]> {
  if (tx.actor.kind !== memberKind || tx.actor.id !== memberId) return [];
  return (await ownTermGuard(tx, given.projectId))(given.rules, given.endsAt);
}

/** @throws PERMISSION_BOUNDARY */
function refuseBeyond({ projectId }: ProjectAccess, { memberKind }: Target, beyond: readonly Action[]): void {
  const action = actionOn(memberKind, VERB);
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId }, [...new Set(beyond)]);
}

async function changed(tx: Transaction, action: string, id: string): Promise<PrivilegeView> {
  const [row] = await findPrivileges(tx, { ids: [id] });
  // The membership may have ended since it was read.
  if (row === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
  const privilege = toPrivilegeView(row);
  await record(tx, action, privilege);
  return privilege;
}

const record = (
  tx: Transaction,
  action: string,
  { id, projectId, slug, memberKind, memberId, rules, endsAt }: PrivilegeView,
): Promise<void> =>
  tx.auditTrail.recordChange(tx, {
    action,
    projectId,
    facts: {
      privilegeId: id,
      slug,
      memberKind,
      memberId,
      rules: rules.length,
      ...(endsAt === null ? {} : { endsAt: endsAt.toISOString() }),
    },
  });

/** Audit details of a privilege that is shown. */
export const readRecord = ({ id, projectId }: { readonly id: string; readonly projectId: string }) =>
  ({ action: 'additional-privilege:get', projectId, facts: { privilegeId: id } }) as const;

async function shown(ctx: Context, privilege: PrivilegeView): Promise<PrivilegeView> {
  await ctx.auditTrail.recordRead(ctx, readRecord(privilege));
  return privilege;
}

const loadByMembership = batchOfOwned(
  async (ctx, membershipIds) => (await privilegesOfMemberships(ctx, { membershipIds })).map(toPrivilegeView),
  ({ membershipId }) => membershipId,
);
