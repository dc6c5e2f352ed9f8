import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { type Action, authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched } from '../../../kernel/database/batched.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { orderedCursorKey, orderedPageBounds, requestedOrder } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { Assignee } from '../permissions/public.js';
import { authorizeRoleChange, authorizeRoleGrant } from './boundary/role-change.js';
import { lockCandidate } from './memberships/membership.sql.js';
import {
  addMember,
  changeRole,
  type DirectMembership,
  lockMembership,
  type Member,
  NOT_FOUND,
  protectInstallationAdmin,
  removeMember,
} from './memberships/memberships.js';
import { listMembers, type OrganizationView } from './organization.queries.js';
import { countMembers, type MemberView, membersInScope, type OrganizationReader } from './organization.reader.js';
import { ListMembers, RemoveMember, SetMember, UpdateMember } from './organization.rules.js';

interface Candidate extends Member {
  readonly name: string;
  /** The organization that owns the account. */
  readonly ownerId: string;
  readonly isInstallationAdmin: boolean;
}

/**
 * The verbs of organization memberships: above all, who of a root organization works in which sub-organization. The membership
 * of a person is changed by the rights on `member`, that of a machine identity by those on `identity`.
 */
export class MemberService {
  constructor(private readonly organizations: OrganizationReader) {}

  /**
   * The members of the caller's organization or of a sub-organization below it, by name, then id, or in another order.
   *
   * @param raw `{ organizationId?, first?, after?, orderBy?, updatedSince? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<MemberView>> {
    const { organizationId, ...request } = parse(ListMembers, raw);
    authorize(ctx, 'member:read');
    const organization = await this.organizations.load(ctx, organizationId ?? ctx.organizationId);
    authorizeIn(ctx, organization, 'member:read');
    const bounds = orderedPageBounds(request);
    const rows = await listMembers(ctx, requestedOrder(request), { organizationId: organization.id, ...bounds });
    const page = new Page(rows, request, (member) => orderedCursorKey(request, member));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'organization-member:list',
      facts: { organizationId: organization.id, count: page.nodes.length },
    });
    return counted(page, async () => (await batched(ctx, countMembers, organization.id)) ?? 0);
  }

  /**
   * Makes somebody a member, or gives a member another role or another end.
   *
   * @param raw `{ organizationId?, userId | identityId, roleSlug, endsAt? }`; without `endsAt` a membership that holds now keeps its end
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND,
   *   ROLE_NOT_FOUND, PERMISSION_BOUNDARY, ALREADY_A_MEMBER (somebody else added it at the same moment), LAST_ADMIN,
   *   AUDIT_UNAVAILABLE
   */
  async set(ctx: Context, raw: unknown): Promise<MemberView> {
    const { organizationId, roleSlug, endsAt, ...named } = parse(SetMember, raw);
    const who = toMember(named);
    authorize(ctx, actionOn(who.kind, 'read'));
    return inTransaction(ctx, async (tx) => {
      const organization = await this.organizations.load(tx, organizationId ?? tx.organizationId);
      authorizeIn(tx, organization, actionOn(who.kind, 'edit'));
      const member = await loadCandidate(tx, organization, who);
      const current = await lockMembership(tx, organization.id, member);
      // One that has ended is none: nothing of it is kept.
      const end = endsAt === undefined && current?.isNow === true ? current.endsAt : (endsAt ?? null);
      return write(tx, { organization, member, current }, roleSlug, end);
    });
  }

  /**
   * Gives a member another role or another end, by the id of the membership. Whoever may only hand roles on may do so here too.
   *
   * @param raw `{ id, roleSlug?, endsAt? }`; absent keeps
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, MEMBERSHIP_NOT_FOUND, ROLE_NOT_FOUND, PERMISSION_BOUNDARY, LAST_ADMIN,
   *   AUDIT_UNAVAILABLE
   */
  async update(ctx: Context, raw: unknown): Promise<MemberView> {
    const { id, roleSlug, endsAt } = parse(UpdateMember, raw);
    return inTransaction(ctx, async (tx) => {
      const found = await loadMember(tx, id);
      const action = actionOn(found.memberKind, 'edit');
      const organization = await this.organizations.load(tx, found.organizationId);
      const isRoleAlone = organization.id === tx.organizationId && roleSlug != null && endsAt === undefined;
      const handedTo = isRoleAlone ? authorizeRoleGrant(tx, action, assigneeOf(found)) : null;
      if (!isRoleAlone) authorizeIn(tx, organization, action);
      const member = await loadCandidate(tx, organization, { kind: found.memberKind, id: found.memberId });
      const current = await lockMembership(tx, organization.id, member);
      if (current === null) throw new AppError('MEMBERSHIP_NOT_FOUND');
      const end = endsAt === undefined ? current.endsAt : endsAt;
      return write(tx, { organization, member, current, handedTo }, roleSlug ?? current.role, end);
    });
  }

  /**
   * Ends a membership, and with it those of the organization's projects. The organization that owns an account cannot be
   * left: the account is deleted instead.
   *
   * @param raw `{ organizationId?, userId | identityId }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND,
   *   MEMBERSHIP_NOT_FOUND, PERMISSION_BOUNDARY, LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  async remove(ctx: Context, raw: unknown): Promise<MemberView> {
    const { organizationId, ...named } = parse(RemoveMember, raw);
    const who = toMember(named);
    const action = actionOn(who.kind, 'delete');
    authorize(ctx, actionOn(who.kind, 'read'));
    return inTransaction(ctx, async (tx) => {
      const organization = await this.organizations.load(tx, organizationId ?? tx.organizationId);
      authorizeIn(tx, organization, action);
      const member = await loadCandidate(tx, organization, who);
      if (member.ownerId === organization.id) throw ownedHere();
      const current = await lockMembership(tx, organization.id, member);
      if (current === null) throw new AppError('MEMBERSHIP_NOT_FOUND');
      const { role, endsAt } = current;
      await authorizeRoleChange(tx, { organizationId: organization.id, action, before: role });
      const id = await removeMember(tx, organization.id, member);
      await tx.auditTrail.recordChange(tx, {
        action: 'organization-member:remove',
        showsInProjects: true,
        facts: factsOf(organization.id, member, role),
      });
      return { id, ...viewOf(member), organizationId: organization.id, roleSlug: role, endsAt };
    });
  }
}

/** A candidate, and its membership as it was: null for none. */
interface MembershipChange {
  readonly organization: OrganizationView;
  readonly member: Candidate;
  readonly current: DirectMembership | null;
  /** The member, where the caller may only hand roles on to it; absent or null: the caller may change it. */
  readonly handedTo?: Assignee | null;
}

async function write(
  tx: Transaction,
  { organization, member, current, handedTo }: MembershipChange,
  role: string,
  endsAt: Date | null,
): Promise<MemberView> {
  const { id: organizationId } = organization;
  const before = current?.role ?? null;
  const action = actionOn(member.kind, 'edit');
  await authorizeRoleChange(tx, { organizationId, action, before, after: role, handedTo });
  refuseOwnExtension(tx, { member, current }, endsAt);
  const id = await (current === null ? addMember : changeRole)(tx, organizationId, member, role, endsAt);
  await tx.auditTrail.recordChange(tx, {
    action: 'organization-member:set',
    facts: { ...factsOf(organizationId, member, role), endsAt: endsAt?.toISOString() ?? null },
  });
  return { id, ...viewOf(member), organizationId, roleSlug: role, endsAt };
}

/**
 * Nobody lengthens its own membership, which rights in projects end with, too. One that has ended gives nothing any more: whoever
 * may change a sub-organization joins it again as if it had never been a member.
 *
 * @throws PERMISSION_BOUNDARY
 */
function refuseOwnExtension(
  tx: Transaction,
  { member, current }: Pick<MembershipChange, 'member' | 'current'>,
  end: Date | null,
): void {
  if (member.kind !== tx.actor.kind || member.id !== tx.actor.id) return;
  if (current === null || !current.isNow || current.endsAt === null) return;
  if (end !== null && end <= current.endsAt) return;
  const action = actionOn(member.kind, 'edit');
  throw new PermissionDenied({ action, projectId: null }, [action]);
}

/** Somebody whose account is owned by the organization or by the root above it. */
async function loadCandidate(
  tx: Transaction,
  organization: OrganizationView,
  { kind, id }: Member,
): Promise<Candidate> {
  const key = { id, organizationId: organization.id, rootOrganizationId: organization.parentId ?? organization.id };
  const row = await loadRow(tx, lockCandidate[kind], key, NOT_FOUND[kind]);
  protectInstallationAdmin(tx, row);
  return { ...row, kind };
}

/** People are changed by the rights on members, machine identities by those on identities, as elsewhere. */
const actionOn = <V extends 'read' | 'edit' | 'delete'>(kind: Member['kind'], verb: V) =>
  kind === 'user' ? (`member:${verb}` as const) : (`identity:${verb}` as const);

/** A membership by its id, for who may read such members. One that nobody has is refused as one of a person would be. */
async function loadMember(tx: Transaction, id: string): Promise<MemberView> {
  if (!can(tx.ability, 'identity:read')) authorize(tx, 'member:read');
  const found = isId(id) ? (await membersInScope(tx, [id])).get(id.toLowerCase()) : undefined;
  authorize(tx, actionOn(found?.memberKind ?? 'user', 'read'));
  if (found === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
  return found;
}

/** In the scope: the rights on members. Below it: the right to change sub-organizations. Never above it. */
function authorizeIn(ctx: Context, { id, parentId }: OrganizationView, action: Action): void {
  if (id !== ctx.organizationId && parentId !== ctx.organizationId) {
    throw new PermissionDenied({ action, projectId: null });
  }
  authorize(ctx, id === ctx.organizationId ? action : 'sub-organization:edit');
}

const assigneeOf = ({ memberKind, memberId, name }: MemberView): Assignee =>
  memberKind === 'user'
    ? { subject: 'member', fields: { username: name } }
    : { subject: 'identity', fields: { identityId: memberId } };

const viewOf = ({ kind, id, name }: Candidate) => ({ memberKind: kind, memberId: id, name });

const toMember = ({ userId, identityId }: { userId?: string | null; identityId?: string | null }): Member =>
  userId == null ? { kind: 'identity', id: identityId ?? '' } : { kind: 'user', id: userId };

const ownedHere = (): AppError =>
  new AppError('VALIDATION_FAILED', undefined, {
    details: [
      {
        path: 'organizationId',
        code: 'OWNED_HERE',
        message: 'this organization owns the account; delete the user or identity instead',
      },
    ],
  });

const factsOf = (organizationId: string, { kind, id }: Member, role: string): AuditFacts => ({
  organizationId,
  memberKind: kind,
  memberId: id,
  role,
});
