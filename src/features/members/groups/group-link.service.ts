import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { parse } from '../../../kernel/validation.js';
import {
  authorizeRoleChange,
  keepLoggedInAdmins,
  lockAdminsOf,
  OrganizationMembership,
  type OrganizationReader,
} from '../../identity/organizations/public.js';
import type { ProjectReader } from '../../projects/public.js';
import type { LinkRow } from './group.queries.js';
import { lockGroup } from './group.reader.js';
import { LinkGroup, UnlinkGroup } from './group.rules.js';
import { setRole } from './group.service.js';
import { authorizeRightsOfGroup } from './group-boundary.js';

/** A group in an organization, without what only the reader needs. */
type LinkView = Omit<LinkRow, 'groupSlug'>;

/** A group, and where it is or shall be. */
interface Place {
  readonly groupId: string;
  readonly organizationId: string;
}

/**
 * Groups of a root organization in its sub-organizations. Whoever does this may change the group, and sub-organizations.
 *
 * Both methods throw VALIDATION_FAILED, PERMISSION_DENIED, GROUP_NOT_FOUND, ORGANIZATION_NOT_FOUND, PERMISSION_BOUNDARY and
 * AUDIT_UNAVAILABLE.
 */
export class GroupLinkService {
  constructor(
    private readonly organizations: OrganizationReader,
    private readonly projects: ProjectReader,
  ) {}

  /** Links a group to a sub-organization, or gives it another role there. @throws ROLE_NOT_FOUND, LAST_ADMIN */
  async link(ctx: Context, raw: unknown): Promise<LinkView> {
    const { roleSlug, ...named } = parse(LinkGroup, raw);
    return this.#change(ctx, named, async (tx, { groupId, organizationId }) => {
      const held = await tx.em.findOne(OrganizationMembership, { organizationId, groupId });
      const change = { before: held?.role ?? null, after: roleSlug };
      await authorizeRoleChange(tx, { organizationId, action: 'sub-organization:edit', ...change });
      await authorizeRightsOfGroup(tx, this.projects, { groupId, action: 'sub-organization:edit' });
      const row = await setRole(tx, { organizationId, groupId, role: roleSlug });
      await tx.auditTrail.recordChange(tx, {
        action: 'group:link',
        facts: { groupId, organizationId, role: roleSlug },
      });
      return { ...row, groupId, organizationId, roleSlug };
    });
  }

  /** Ends a link, and with it the memberships of the sub-organization's projects. @throws MEMBERSHIP_NOT_FOUND */
  async unlink(ctx: Context, raw: unknown): Promise<LinkView> {
    return this.#change(ctx, parse(UnlinkGroup, raw), async (tx, { groupId, organizationId }) => {
      const held = await tx.em.findOne(OrganizationMembership, { organizationId, groupId });
      if (held === null) throw new AppError('MEMBERSHIP_NOT_FOUND');
      await authorizeRightsOfGroup(tx, this.projects, { groupId, action: 'sub-organization:edit' });
      const { id, role, createdAt } = held;
      // None: the organization was deleted at the same moment.
      if ((await tx.em.nativeDelete(OrganizationMembership, { id })) === 0) throw new AppError('MEMBERSHIP_NOT_FOUND');
      await tx.auditTrail.recordChange(tx, {
        action: 'group:unlink',
        showsInProjects: true,
        facts: { groupId, organizationId, role },
      });
      return { id, createdAt, groupId, organizationId, roleSlug: role };
    });
  }

  /** Holds the group, and finds the sub-organization, for who may change both. */
  async #change(
    ctx: Context,
    named: Place,
    work: (tx: Transaction, place: Place) => Promise<LinkView>,
  ): Promise<LinkView> {
    authorize(ctx, 'groups:edit');
    authorize(ctx, 'sub-organization:edit');
    return inTransaction(ctx, async (tx) => {
      const admins = await lockAdminsOf(tx, [named.organizationId]);
      const { row } = await lockGroup(tx, named.groupId, 'groups:edit');
      const organization = await this.organizations.load(tx, named.organizationId);
      // Above and beside it there is nothing that it could change, and in itself a group has its role already.
      if (organization.parentId !== tx.organizationId) throw new AppError('ORGANIZATION_NOT_FOUND');
      const link = await work(tx, { groupId: row.id, organizationId: organization.id });
      await keepLoggedInAdmins(tx, admins);
      return link;
    });
  }
}
