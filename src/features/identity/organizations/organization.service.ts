import { sql, Utils } from '@mikro-orm/core';
import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { queryOf } from '../../../kernel/database/database.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { EVERY_ORGANIZATION } from '../../../kernel/database/scope.js';
import { countIn } from '../../../kernel/database/tables.js';
import { AppError } from '../../../kernel/errors.js';
import { randomLetters } from '../../../kernel/ids.js';
import { type CountedConnectionOf, counted, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { Organization } from './core/organization.entity.js';
import { addMember, memberOf } from './memberships/memberships.js';
import {
  countOrganizations,
  findContents,
  listOrganizations,
  lockOrganizationToDelete,
  type OrganizationView,
} from './organization.queries.js';
import type { OrganizationReader } from './organization.reader.js';
import {
  CreateOrganization,
  DeleteOrganization,
  GetOrganization,
  ListOrganizations,
  organizationBounds,
  organizationKey,
  organizationSlugFor,
  UpdateOrganization,
} from './organization.rules.js';

/** An entity as a view: its defaults are those of the database. */
const toOrganizationView = (made: Organization): OrganizationView => ({
  id: made.id,
  name: made.name,
  slug: made.slug,
  parentId: made.parentId ?? null,
  allowedEmailDomains: made.allowedEmailDomains ?? [],
  createdAt: made.createdAt,
  updatedAt: made.updatedAt,
});

const SLUGS = {
  organization_sub_slug_unique: 'ORGANIZATION_SLUG_TAKEN',
} as const;

/** The verbs of organizations. */
export class OrganizationService {
  constructor(private readonly organizations: OrganizationReader) {}

  /**
   * One organization that the scope of the caller can see; without an id the scope itself.
   *
   * @param raw `{ id? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<OrganizationView> {
    const { id } = parse(GetOrganization, raw);
    authorize(ctx, 'organization:read');
    const organization = await this.organizations.load(ctx, id ?? ctx.organizationId);
    await ctx.auditTrail.recordRead(ctx, { action: 'organization:get', facts: { organizationId: organization.id } });
    return organization;
  }

  /**
   * The root organization of the caller first, then the sub-organizations that its scope can see, by name and id.
   *
   * @param raw `{ first?, after? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<OrganizationView>> {
    const request = parse(ListOrganizations, raw);
    authorize(ctx, 'organization:read');
    const { organizationId, rootOrganizationId } = ctx;
    const bounds = organizationBounds(request);
    const scope = { organizationId, rootOrganizationId };
    const rows = await listOrganizations(ctx, { ...scope, ...bounds });
    const page = new Page(rows, request, organizationKey);
    await ctx.auditTrail.recordRead(ctx, { action: 'organization:list', facts: { count: page.nodes.length } });
    return counted(page, async () => countIn(await countOrganizations(ctx, scope)));
  }

  /**
   * Makes a root organization with its data key and its first admin, an identity that belongs to nobody else.
   * Only the admin of the installation may.
   *
   * @param raw `{ name, slug? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async create(
    ctx: Context,
    raw: unknown,
  ): Promise<{ organization: OrganizationView; identityId: string; accessToken: string }> {
    const input = parse(CreateOrganization, raw);
    if (!ctx.actor.isInstallationAdmin) throw new PermissionDenied({ action: 'organization:create', projectId: null });
    const work = async (tx: Transaction) => {
      const organization = await this.#insert(tx, input, null);
      const admin = await tx.providers.createFirstAdmin(tx, organization.id);
      tx.claim?.withholdResponse(organization.id, admin.identityId);
      await tx.auditTrail.recordChange(tx, {
        action: 'organization:create',
        facts: { organizationId: organization.id, slug: organization.slug, identityId: admin.identityId },
      });
      return { organization: toOrganizationView(organization), ...admin };
    };
    // The new organization is not that of the caller.
    return inTransaction(ctx, work, EVERY_ORGANIZATION);
  }

  /**
   * Makes a sub-organization of the caller's root organization, one level deep. The caller becomes an admin of it, whatever it
   * may do in the root, as whoever makes a project does. That goes beyond no boundary: nothing of the root is in it, and nothing
   * gets there without rights in the root (to link a group), or leads back: what is owned above is neither read, nor changed,
   * nor given credentials from below. Accounts of the root can be taken in by their ids, which gives rights to these alone.
   *
   * @param raw `{ name, slug? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_SLUG_TAKEN, AUDIT_UNAVAILABLE
   */
  async createSub(ctx: Context, raw: unknown): Promise<OrganizationView> {
    const input = parse(CreateOrganization, raw);
    authorize(ctx, 'sub-organization:create');
    if (ctx.organizationId !== ctx.rootOrganizationId) {
      throw new PermissionDenied({ action: 'sub-organization:create', projectId: null });
    }
    return inTransaction(ctx, async (tx) => {
      const organization = await this.#insert(tx, input, tx.organizationId);
      await addMember(tx, organization.id, memberOf(tx.actor), 'admin');
      await tx.auditTrail.recordChange(tx, {
        action: 'sub-organization:create',
        facts: { organizationId: organization.id, slug: organization.slug },
      });
      return toOrganizationView(organization);
    });
  }

  /**
   * Renames an organization, gives it another slug, or says at which domains people get its mails.
   *
   * @param raw `{ id, name?, slug?, allowedEmailDomains? }`; absent keeps
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, ORGANIZATION_SLUG_TAKEN, AUDIT_UNAVAILABLE
   */
  async update(ctx: Context, raw: unknown): Promise<OrganizationView> {
    const { id, name, slug, allowedEmailDomains } = parse(UpdateOrganization, raw);
    authorize(ctx, 'organization:read');
    return inTransaction(ctx, async (tx) => {
      const known = await this.organizations.load(tx, id);
      authorizeChange(tx, known, 'edit');
      if (slug != null && slug !== known.slug) authorizeNewSlug(tx, known);
      const wanted = { name, slug, allowedEmailDomains };
      Utils.dropUndefinedProperties(wanted);
      const update = tx.em
        .createQueryBuilder(Organization)
        .update({ ...wanted, updatedAt: sql`now()` })
        .where({ id: known.id })
        .returning('*');
      const [changed] = await withConstraintCodes(() => update.execute<Organization[]>('all'), SLUGS);
      if (changed === undefined) throw new AppError('ORGANIZATION_NOT_FOUND');
      const row = toOrganizationView(changed);
      await tx.auditTrail.recordChange(tx, {
        action: 'organization:update',
        facts: {
          organizationId: row.id,
          slug: row.slug,
          ...(allowedEmailDomains === undefined ? {} : { allowedEmailDomains }),
        },
      });
      return row;
    });
  }

  /**
   * Deletes an organization and everything in it. A sub-organization: an admin of its root. A root organization: the admin
   * of the installation, and never the own one.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, ORGANIZATION_IN_USE, AUDIT_UNAVAILABLE
   */
  async delete(ctx: Context, raw: unknown): Promise<OrganizationView> {
    const { id } = parse(DeleteOrganization, raw);
    authorize(ctx, 'organization:read');
    const work = async (tx: Transaction) => {
      const organization = await loadForDeletion(tx, id);
      if (organization.id === tx.rootOrganizationId && tx.actor.isInstallationAdmin) {
        throw new AppError('ORGANIZATION_IN_USE');
      }
      authorizeDeletion(tx, organization);
      const [use] = await findContents(tx, { id: organization.id });
      if (use !== undefined) throw new AppError('ORGANIZATION_IN_USE');
      await tx.em.nativeDelete(Organization, { id: organization.id });
      await tx.auditTrail.recordChange(tx, {
        action: 'organization:delete',
        facts: { organizationId: organization.id, slug: organization.slug },
      });
      return organization;
    };
    // The admin of the installation deletes those of others.
    return inTransaction(ctx, work, EVERY_ORGANIZATION);
  }

  async #insert(
    tx: Transaction,
    { name, slug }: { name: string; slug?: string | null | undefined },
    parentId: string | null,
  ): Promise<Organization> {
    const organization = tx.em.create(Organization, {
      name,
      slug: slug ?? organizationSlugFor(name, randomLetters(4)),
      parentId,
    });
    await flush(tx, { ...SLUGS, organization_parent_id_fkey: 'ORGANIZATION_NOT_FOUND' });
    await tx.keyring.createOrganizationKey(queryOf(tx), organization.id);
    return organization;
  }
}

/** What the caller can see; for the admin of the installation any root organization. */
function loadForDeletion(tx: Transaction, id: string): Promise<OrganizationView> {
  const { organizationId, rootOrganizationId, actor } = tx;
  const key = { id, organizationId, rootOrganizationId, isInstallationAdmin: actor.isInstallationAdmin };
  return loadRow(tx, lockOrganizationToDelete, key, 'ORGANIZATION_NOT_FOUND');
}

function authorizeDeletion(ctx: Context, organization: OrganizationView): void {
  if (organization.parentId !== null) {
    authorizeChange(ctx, organization, 'delete');
  } else if (!ctx.actor.isInstallationAdmin) {
    throw new PermissionDenied({ action: 'organization:delete', projectId: null });
  }
}

/**
 * The slugs of sub-organizations are one namespace of their root: whoever is below it neither takes nor tries them.
 *
 * @throws PERMISSION_DENIED
 */
function authorizeNewSlug(ctx: Context, { id, parentId }: OrganizationView): void {
  if (parentId === null || id !== ctx.organizationId) return;
  throw new PermissionDenied({ action: 'sub-organization:edit', projectId: null });
}

/** Rights in the scope reach the scope itself and the sub-organizations below it, never the root above it. */
function authorizeChange(ctx: Context, { id, parentId }: OrganizationView, verb: 'edit' | 'delete'): void {
  const isOwn = id === ctx.organizationId && verb === 'edit';
  if (!isOwn && parentId !== ctx.organizationId) {
    throw new PermissionDenied({ action: `organization:${verb}`, projectId: null });
  }
  authorize(ctx, isOwn ? 'organization:edit' : `sub-organization:${verb}`);
}
