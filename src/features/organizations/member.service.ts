import type { AuditFacts } from '../../kernel/audit/audit-record.js';
import { authorize, PermissionDenied } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';
import { namePageBounds, Page } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import { type MemberView, SELECT_MEMBER } from './member.reader.js';
import { ListMembers, RemoveMember, SetMember } from './member.rules.js';
import {
  addMember,
  changeRole,
  findRole,
  type Member,
  NOT_FOUND,
  protectInstallationAdmin,
  removeMember,
} from './memberships.js';
import type { OrganizationReader, OrganizationView } from './organization.reader.js';
import { authorizeRoleChange } from './role-boundary.js';

interface Candidate extends Member {
  readonly name: string;
  /** The organization that owns the account. */
  readonly ownerId: string;
  readonly isInstallationAdmin: boolean;
}

/** The verbs of organization memberships: above all, who of a root organization works in which sub-organization. */
export class MemberService {
  constructor(private readonly organizations: OrganizationReader) {}

  /**
   * The members of the caller's organization or of a sub-organization below it, by name, then id.
   *
   * @param raw `{ organizationId?, first?, after? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: decisions 10.
   */
  async list(ctx: Context, raw: unknown): Promise<Page<MemberView>> {
    const { organizationId, ...request } = parse(ListMembers, raw);
    authorize(ctx, 'member:read');
    const organization = await this.organizations.load(ctx, organizationId ?? ctx.organizationId);
    authorizeIn(ctx, organization, 'member:read');
    const { name, id, limit } = namePageBounds(request);
    const rows = await query<MemberView>(ctx, LIST, [organization.id, name, id, limit]);
    const page = new Page(rows, request, ({ name, id }) => [name, id]);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'organization-member:list',
      facts: { organizationId: organization.id, count: page.nodes.length },
    });
    return page;
  }

  /**
   * Makes somebody a member, or gives a member another role.
   *
   * @param raw `{ organizationId?, userId | identityId, role }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND,
   *   ALREADY_A_MEMBER and MEMBERSHIP_NOT_FOUND (somebody else added or removed it at the same moment), LAST_ADMIN,
   *   AUDIT_UNAVAILABLE
   * Source: decisions 10.
   */
  async set(ctx: Context, raw: unknown): Promise<MemberView> {
    const { organizationId, role, ...who } = parse(SetMember, raw);
    authorize(ctx, 'member:read');
    return inTransaction(ctx, async (tx) => {
      const organization = await this.organizations.load(tx, organizationId ?? tx.organizationId);
      authorizeIn(tx, organization, 'member:edit');
      const member = await loadCandidate(tx, organization, toMember(who));
      const before = await findRole(tx, organization.id, member);
      const change = { organizationId: organization.id, before, after: role };
      await authorizeRoleChange(tx, { ...change, action: 'member:edit' });
      const id = await (before === null ? addMember : changeRole)(tx, organization.id, member, role);
      await tx.auditTrail.recordChange(tx, {
        action: 'organization-member:set',
        facts: factsOf(organization.id, member, role),
      });
      return { id, ...viewOf(member), organizationId: organization.id, role };
    });
  }

  /**
   * Ends a membership, and with it those of the organization's projects. The organization that owns an account cannot be
   * left: the account is deleted instead.
   *
   * @param raw `{ organizationId?, userId | identityId }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND,
   *   MEMBERSHIP_NOT_FOUND, LAST_ADMIN, AUDIT_UNAVAILABLE
   * Source: decisions 10.
   */
  async remove(ctx: Context, raw: unknown): Promise<MemberView> {
    const { organizationId, ...who } = parse(RemoveMember, raw);
    authorize(ctx, 'member:read');
    return inTransaction(ctx, async (tx) => {
      const organization = await this.organizations.load(tx, organizationId ?? tx.organizationId);
      authorizeIn(tx, organization, 'member:delete');
      const member = await loadCandidate(tx, organization, toMember(who));
      if (member.ownerId === organization.id) throw ownedHere();
      const role = await findRole(tx, organization.id, member);
      if (role === null) throw new AppError('MEMBERSHIP_NOT_FOUND');
      await authorizeRoleChange(tx, { organizationId: organization.id, action: 'member:delete', before: role });
      const id = await removeMember(tx, organization.id, member);
      await tx.auditTrail.recordChange(tx, {
        action: 'organization-member:remove',
        showsInProjects: true,
        facts: factsOf(organization.id, member, role),
      });
      return { id, ...viewOf(member), organizationId: organization.id, role };
    });
  }
}

const LIST = `select * from (${SELECT_MEMBER} where m.organization_id = $1 and m.group_id is null) as member
  where $2::text is null or (name collate "C", id) > ($2, $3::uuid)
  order by name collate "C", id limit $4`;

// Both kinds are read here and not in the slice of identities, which stands on this one.
const CANDIDATE = {
  user: `select id, username as name, organization_id as "ownerId", false as "isInstallationAdmin"
    from app_user where id = $1 and organization_id in ($2, $3) for key share`,
  identity: `select id, name, organization_id as "ownerId", is_installation_admin as "isInstallationAdmin"
    from identity where id = $1 and organization_id in ($2, $3) and project_id is null for key share`,
} as const;

/** Somebody whose account is owned by the organization or by the root above it. */
async function loadCandidate(
  tx: Transaction,
  organization: OrganizationView,
  { kind, id }: Member,
): Promise<Candidate> {
  const [row] = isId(id)
    ? await query<Omit<Candidate, 'kind'>>(tx, CANDIDATE[kind], [
        id,
        organization.id,
        organization.parentId ?? organization.id,
      ])
    : [];
  if (row === undefined) throw new AppError(NOT_FOUND[kind]);
  protectInstallationAdmin(tx, row);
  return { ...row, kind };
}

/** In the scope: the rights on members. Below it: the right to change sub-organizations. Never above it. */
function authorizeIn(
  ctx: Context,
  { id, parentId }: OrganizationView,
  action: 'member:read' | 'member:edit' | 'member:delete',
): void {
  if (id !== ctx.organizationId && parentId !== ctx.organizationId) {
    throw new PermissionDenied({ action, projectId: null });
  }
  authorize(ctx, id === ctx.organizationId ? action : 'sub-organization:edit');
}

const viewOf = ({ kind, id, name }: Candidate) => ({ memberKind: kind, memberId: id, name });

const toMember = ({ userId, identityId }: { userId?: string | null; identityId?: string | null }): Member =>
  userId == null ? { kind: 'identity', id: identityId ?? '' } : { kind: 'user', id: userId };

const ownedHere = (): AppError =>
  new AppError('VALIDATION_FAILED', undefined, {
    details: [
      { path: 'organizationId', code: 'OWNED_HERE', message: 'owns the account; delete the user or identity instead' },
    ],
  });

const factsOf = (organizationId: string, { kind, id }: Member, role: string): AuditFacts => ({
  organizationId,
  memberKind: kind,
  memberId: id,
  role,
});
