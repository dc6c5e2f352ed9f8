import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { flush, inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { namePageBounds, Page } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import {
  addMember,
  authorizeRoleChange,
  changeRole,
  deleteAccount,
  lockMembership,
  protectInstallationAdmin,
} from '../organizations/public.js';
import { Identity } from './identity.entity.js';
import { listIdentities } from './identity.queries.js';
import { type IdentityReader, type IdentityView, toIdentityView } from './identity.reader.js';
import { CreateIdentity, ListIdentities, OneIdentity, UpdateIdentity } from './identity.rules.js';

/** The verbs of machine identities. An identity belongs to the organization that made it. */
export class IdentityService {
  constructor(private readonly identities: IdentityReader) {}

  /**
   * Makes an identity of the caller's organization.
   *
   * @param raw `{ name, organizationId?, roleSlug? }`; only the caller's own organization can be named
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, ORGANIZATION_NOT_FOUND, ROLE_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identities).
   */
  async create(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { organizationId, roleSlug: role, ...input } = parse(CreateIdentity, raw);
    refuseOtherOrganization(ctx, organizationId);
    authorize(ctx, 'identity:create');
    return inTransaction(ctx, async (tx) => {
      const { organizationId } = tx;
      await authorizeRoleChange(tx, { organizationId, action: 'identity:create', after: role });
      const id = await insertIdentity(tx, { ...input, role, organizationId, isInstallationAdmin: false });
      await tx.auditTrail.recordChange(tx, {
        action: 'identity:create',
        facts: { identityId: id, role },
      });
      return this.identities.load(tx, id);
    });
  }

  /**
   * One identity of the caller's organization.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identities).
   */
  async get(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { id } = parse(OneIdentity, raw);
    authorize(ctx, 'identity:read');
    const identity = await this.identities.load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, { action: 'identity:get', facts: { identityId: identity.id } });
    return identity;
  }

  /**
   * The identities of the caller's organization, by name, then id.
   *
   * @param raw `{ organizationId?, first?, after? }`; only the caller's own organization can be named
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identities).
   */
  async list(ctx: Context, raw: unknown): Promise<Page<IdentityView>> {
    const { organizationId, ...request } = parse(ListIdentities, raw);
    refuseOtherOrganization(ctx, organizationId);
    authorize(ctx, 'identity:read');
    const bounds = namePageBounds(request);
    const rows = await listIdentities(ctx, { organizationId: ctx.organizationId, ...bounds });
    const page = new Page(rows.map(toIdentityView), request, ({ name, id }) => [name, id]);
    await ctx.auditTrail.recordRead(ctx, { action: 'identity:list', facts: { count: page.nodes.length } });
    return page;
  }

  /**
   * Renames an identity, or gives it another role in the owning organization.
   *
   * @param raw `{ id, name?, roleSlug? }`; absent keeps
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND and MEMBERSHIP_NOT_FOUND (deleted at the same moment),
   *   ROLE_NOT_FOUND, PERMISSION_BOUNDARY, LAST_ADMIN, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identities).
   */
  async update(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { id, name, roleSlug } = parse(UpdateIdentity, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.identities.load(tx, id);
      authorize(tx, 'identity:edit');
      protectInstallationAdmin(tx, identity);
      const role = roleSlug === undefined ? identity.roleSlug : await giveRole(tx, identity, roleSlug);
      const renamed = name === undefined ? {} : { name };
      tx.em.assign(tx.em.getReference(Identity, identity.id), { ...renamed, updatedAt: sql('now()') });
      await flush(tx);
      await tx.auditTrail.recordChange(tx, {
        action: 'identity:update',
        showsInProjects: name !== undefined,
        facts: { identityId: identity.id, role },
      });
      return this.identities.load(tx, identity.id);
    });
  }

  /**
   * Deletes an identity with all memberships and tokens. The admin of the installation stays; organizations and projects
   * keep an admin.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND, LAST_ADMIN, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Identities).
   */
  async delete(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { id } = parse(OneIdentity, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.identities.load(tx, id);
      authorize(tx, 'identity:delete');
      protectInstallationAdmin(tx, identity);
      if (identity.isInstallationAdmin) throw new AppError('LAST_ADMIN');
      await deleteAccount(tx, { kind: 'identity', id: identity.id }, 'identity:delete');
      await tx.auditTrail.recordChange(tx, {
        action: 'identity:delete',
        showsInProjects: true,
        facts: { identityId: identity.id },
      });
      return identity;
    });
  }
}

/** @returns the role that the identity has then */
async function giveRole(tx: Transaction, { id, organizationId }: IdentityView, role: string): Promise<string> {
  const member = { kind: 'identity', id } as const;
  const before = (await lockMembership(tx, organizationId, member))?.role ?? null;
  if (before === role) return role;
  await authorizeRoleChange(tx, { organizationId, action: 'identity:edit', before, after: role });
  await changeRole(tx, organizationId, member, role);
  return role;
}

/** Stores a new identity and its membership. Who may do so, and the audit row, are the caller's business. */
export async function insertIdentity(
  tx: Transaction,
  input: { name: string; organizationId: string; role: string; isInstallationAdmin: boolean },
): Promise<string> {
  const { role, ...columns } = input;
  const identity = tx.em.create(Identity, columns);
  await flush(tx, { identity_organization_id_fkey: 'ORGANIZATION_NOT_FOUND' });
  await addMember(tx, input.organizationId, { kind: 'identity', id: identity.id }, role);
  return identity.id;
}

/** Another organization, and one that is none, are the same to the caller. */
function refuseOtherOrganization(ctx: Context, organizationId: string | null | undefined): void {
  if (organizationId != null && organizationId.toLowerCase() !== ctx.organizationId)
    throw new AppError('ORGANIZATION_NOT_FOUND');
}
